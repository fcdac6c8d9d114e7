package check_test

import (
	"slices"

	"quorate/chaos/check"
	"quorate/chaos/client"
	"quorate/chaos/history"
)

// wrongWrites are flaws of what becomes of writes.
func wrongWrites() []flaw {
	stored, done := is(history.Create, history.Replace), told(client.OK)
	unknown, refused := told(client.Unknown), told(client.Conflict)
	replace, remove := is(history.Replace), is(history.Delete)
	drop := func(*history.Event) bool { return true }
	return []flaw{
		{"an acknowledged write has no effect", check.NoLoss, func(h *past) bool {
			op := h.any(stored, done, func(op *history.Op) bool { return len(h.after(op.Key, op.Got.Version)) == 0 })
			if op == nil {
				return false
			}
			h.everywhere(op.Got.Version, drop)
			for node := range h.Finals {
				if op.Kind == history.Create {
					h.final(node, history.Event{Type: "DELETED", Item: op.Got})
				} else {
					h.final(node, history.Event{Type: "MODIFIED", Item: h.change(op.Expect.Version).Item})
				}
			}
			return true
		}},
		{"an acknowledged write reached the watchers and is gone in the end", check.NoLoss, func(h *past) bool {
			op := h.any(stored, done, func(op *history.Op) bool {
				return len(h.after(op.Key, op.Got.Version)) == 0 && h.any(remove, func(o *history.Op) bool { return o.Expect.UID == op.Got.UID }) == nil
			})
			if op == nil {
				return false
			}
			for node := range h.Finals {
				h.final(node, history.Event{Type: "DELETED", Item: op.Got})
			}
			return true
		}},
		{"no watcher receives an acknowledged write", check.NoLoss, func(h *past) bool {
			op := h.any(stored, done)
			h.everywhere(op.Got.Version, drop)
			return true
		}},
		{"an acknowledged deletion has no effect", check.NoLoss, func(h *past) bool {
			for _, event := range h.changes {
				if event.Type == "DELETED" && len(h.after(event.Item.Key, event.Item.Version)) == 0 && h.deletedBy(event.Item.UID) != nil {
					h.everywhere(event.Item.Version, drop)
					for node := range h.Finals {
						h.final(node, history.Event{Type: "ADDED", Item: h.change(h.deletedBy(event.Item.UID).Expect.Version).Item})
					}
					return true
				}
			}
			return false
		}},
		{"what was deleted is there again in the end", check.NoLoss, func(h *past) bool {
			op := h.any(remove, done)
			if op == nil {
				return false
			}
			for node := range h.Finals {
				h.final(node, history.Event{Type: "ADDED", Item: h.change(op.Expect.Version).Item})
			}
			return true
		}},
		{"what was deleted is replaced later", check.Effects, func(h *past) bool {
			op := h.any(remove, done, func(op *history.Op) bool { return h.present(op.Key) == history.Item{} })
			late := h.any(replace, unknown, func(o *history.Op) bool { return op != nil && o.Expect.UID == op.Expect.UID && !h.happened(o) })
			if late == nil {
				return false
			}
			h.append(history.Event{Type: "MODIFIED", Item: history.Item{Key: late.Key, UID: late.Expect.UID, Value: late.Value}})
			return true
		}},
		{"a write takes effect twice", check.Effects, func(h *past) bool {
			op := h.any(stored, func(op *history.Op) bool { return h.happened(op) && h.present(op.Key) != history.Item{} })
			if op == nil {
				return false
			}
			h.append(history.Event{Type: "MODIFIED", Item: history.Item{Key: op.Key, UID: h.present(op.Key).UID, Value: op.Value}})
			return true
		}},
		{"an unknown write lands after one that it conflicts with", check.Effects, func(h *past) bool {
			op := h.any(replace, unknown, func(op *history.Op) bool {
				now := h.present(op.Key)
				return !h.happened(op) && now.UID == op.Expect.UID && now.Version > op.Expect.Version
			})
			if op == nil {
				return false
			}
			h.append(history.Event{Type: "MODIFIED", Item: history.Item{Key: op.Key, UID: op.Expect.UID, Value: op.Value}})
			return true
		}},
		{"a replace succeeds over another version", check.Effects, func(h *past) bool {
			op := h.any(replace, done, func(op *history.Op) bool { return h.older(op.Key, op.Expect.Version).UID == op.Expect.UID })
			if op == nil {
				return false
			}
			op.Expect.Version = h.older(op.Key, op.Expect.Version).Version
			return true
		}},
		{"a deletion succeeds of another version", check.Effects, func(h *past) bool {
			op := h.any(remove, done, func(op *history.Op) bool {
				same := func(o *history.Op) bool { return o != op && o.Expect == op.Expect }
				return h.older(op.Key, op.Expect.Version).UID == op.Expect.UID && h.any(remove, unknown, same) == nil
			})
			if op == nil {
				return false
			}
			op.Expect.Version = h.older(op.Key, op.Expect.Version).Version
			return true
		}},
		{"a create succeeds over what is there", check.Effects, func(h *past) bool {
			op := h.any(is(history.Create), func(op *history.Op) bool { return !h.happened(op) && h.present(op.Key) != history.Item{} })
			if op == nil {
				return false
			}
			item := history.Item{Key: op.Key, UID: "another", Value: op.Value}
			h.append(history.Event{Type: "ADDED", Item: item})
			op.Outcome, op.Got = client.OK, item
			op.Got.Version = h.End
			return true
		}},
		{"a refused write has effect", check.Effects, func(h *past) bool {
			op := h.any(replace, done)
			if op == nil {
				return false
			}
			op.Outcome, op.Got = client.Conflict, history.Item{}
			return true
		}},
		{"a write that surely wasn't done has effect", check.WatchTruth, func(h *past) bool {
			op := h.any(stored, done)
			h.Ops = slices.DeleteFunc(h.Ops, func(o history.Op) bool { return o.Value == op.Value })
			return true
		}},
		{"an object gets another's uid", check.Effects, func(h *past) bool {
			op := h.any(is(history.Create), done, func(op *history.Op) bool {
				return len(h.after(op.Key, op.Got.Version)) == 0 && h.changes[0].Item.UID != op.Got.UID
			})
			if op == nil {
				return false
			}
			op.Got.UID = h.changes[0].Item.UID
			h.everywhere(op.Got.Version, func(e *history.Event) bool { e.Item.UID = op.Got.UID; return false })
			return true
		}},
		{"two writes get one version", check.Versions, func(h *past) bool {
			one := h.any(stored, done)
			other := h.any(stored, done, func(op *history.Op) bool { return op != one })
			one.Got.Version = other.Got.Version
			return true
		}},
		{"a version goes back", check.Versions, func(h *past) bool {
			one := h.any(stored, done)
			other := h.any(stored, done, func(op *history.Op) bool { return op.Invoked > one.Answered })
			if other == nil {
				return false
			}
			other.Got.Version = one.Got.Version - 1
			return true
		}},
		{"a watcher receives a change before its request", check.Versions, func(h *past) bool {
			op := h.any(stored, done, func(op *history.Op) bool { return op.Invoked > 1 })
			if op == nil {
				return false
			}
			h.everywhere(op.Got.Version, func(e *history.Event) bool { e.Arrived = op.Invoked - 1; return false })
			return true
		}},
		{"a conflict over the right version", check.Linearizable, func(h *past) bool {
			return h.insert(func(item history.Item) history.Op {
				return history.Op{Kind: history.Replace, Expect: item, Value: "new", Outcome: client.Conflict}
			})
		}},
		{"a deletion finds nothing, though it is there", check.Linearizable, func(h *past) bool {
			return h.insert(func(item history.Item) history.Op {
				return history.Op{Kind: history.Delete, Expect: item, Outcome: client.NotFound}
			})
		}},
		{"a name is taken that isn't", check.Linearizable, func(h *past) bool {
			op := h.any(is(history.Create), refused)
			if op == nil {
				return false
			}
			op.Key = "nobody"
			return true
		}},
		{"a writer receives another value", check.Answers, func(h *past) bool {
			h.any(stored, done).Got.Value = "another"
			return true
		}},
		{"an answer that no correct server gives", check.Answers, func(h *past) bool {
			h.Refused = []string{"400 Bad Request"}
			return true
		}},
	}
}

// deletedBy is the acknowledged deletion of an object, nil if there is none.
func (h *past) deletedBy(uid string) *history.Op {
	return h.any(is(history.Delete), told(client.OK), func(op *history.Op) bool { return op.Expect.UID == uid })
}

// present is what is there of a key after the last change.
func (h *past) present(key string) history.Item {
	if past := h.after(key, 0); len(past) > 0 && past[len(past)-1].Type != "DELETED" {
		return past[len(past)-1].Item
	}
	return history.Item{}
}

// happened reports whether a create or replace was done.
func (h *past) happened(op *history.Op) bool {
	return slices.ContainsFunc(h.after(op.Key, 0), func(e history.Event) bool { return e.Item.Value == op.Value })
}

// insert adds an operation that is under way only while an object is surely there as it is.
func (h *past) insert(operation func(history.Item) history.Op) bool {
	for _, at := range h.Perm(len(h.Ops)) {
		item := h.Ops[at].Got
		event := h.change(item.Version)
		if !h.Ops[at].Kind.IsWrite() || h.Ops[at].Outcome != client.OK || event == nil {
			continue
		}
		from := h.Ops[at].Answered + 1
		to := from + 5
		for _, next := range h.after(item.Key, item.Version)[:min(1, len(h.after(item.Key, item.Version)))] {
			for i := range h.Ops { // whatever may have made the next change
				if op := &h.Ops[i]; op.Kind.IsWrite() && op.Key == item.Key && (op.Value == next.Item.Value || op.Expect.Version == item.Version) {
					to = min(to, op.Invoked-1)
				}
			}
		}
		if from <= to {
			op := operation(item)
			op.Key, op.Node, op.Invoked, op.Answered = item.Key, "n1", from, to
			h.Ops = append(h.Ops, op)
			return true
		}
	}
	return false
}
