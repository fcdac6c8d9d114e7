package check_test

import (
	"slices"

	"quorate/chaos/check"
	"quorate/chaos/client"
	"quorate/chaos/history"
)

// wrongReads are flaws of what is read: quorum and cached reads, lists, and the final states.
func wrongReads() []flaw {
	get, cached, done := is(history.Get), is(history.CachedGet), told(client.OK)
	anyList, quorumList := is(history.List, history.PagedList, history.CachedList), is(history.List, history.PagedList)
	return []flaw{
		{"a quorum read is older than an acknowledged write", check.Linearizable, func(h *past) bool {
			return h.stale(is(history.Create, history.Replace), get)
		}},
		{"a quorum read is older than another one before it", check.Linearizable, func(h *past) bool { return h.stale(get, get) }},
		{"a quorum read finds what was deleted", check.Linearizable, func(h *past) bool {
			gone := h.any(is(history.Delete), done)
			read := h.any(get, func(op *history.Op) bool { return gone != nil && op.Key == gone.Key && op.Invoked > gone.Answered })
			if read == nil {
				return false
			}
			read.Outcome, read.Got = client.OK, h.change(gone.Expect.Version).Item
			return true
		}},
		{"a quorum read finds nothing, though it is there", check.Linearizable, func(h *past) bool {
			return h.insert(func(history.Item) history.Op { return history.Op{Kind: history.Get, Outcome: client.NotFound} })
		}},
		{"a quorum read finds what nobody wrote", check.Linearizable, func(h *past) bool {
			op := h.any(get, done)
			if op == nil {
				return false
			}
			op.Got.Value = "another"
			return true
		}},
		{"a quorum read finds what is written later", check.Linearizable, func(h *past) bool {
			write := h.any(is(history.Create, history.Replace), done)
			read := h.any(get, func(op *history.Op) bool { return op.Key == write.Key && op.Answered < write.Invoked })
			if read == nil {
				return false
			}
			read.Outcome, read.Got = client.OK, write.Got
			return true
		}},
		{"a quorum list is older than an acknowledged write", check.Versions, func(h *past) bool { return h.staleList() }},
		{"no moment has the state of a quorum list", check.Linearizable, func(h *past) bool { return h.staleList() }},
		{"a list mixes two states", check.Lists, func(h *past) bool {
			for _, at := range h.Perm(len(h.Ops)) {
				for i, item := range h.Ops[at].Items {
					if old := h.older(item.Key, item.Version); old.Version != 0 {
						h.Ops[at].Items[i] = old
						return true
					}
				}
			}
			return false
		}},
		{"a list lacks something", check.Lists, func(h *past) bool {
			op := h.any(anyList, func(op *history.Op) bool { return len(op.Items) > 0 })
			if op == nil {
				return false
			}
			n := h.IntN(len(op.Items))
			op.Items = slices.Delete(op.Items, n, n+1)
			return true
		}},
		{"a list has something twice", check.Lists, func(h *past) bool {
			op := h.any(anyList, func(op *history.Op) bool { return len(op.Items) > 0 })
			if op == nil {
				return false
			}
			op.Items = append(op.Items, op.Items[h.IntN(len(op.Items))])
			return true
		}},
		{"a list has what is deleted", check.Lists, func(h *past) bool {
			gone := h.any(is(history.Delete), done)
			op := h.any(quorumList, func(op *history.Op) bool {
				return gone != nil && op.Invoked > gone.Answered &&
					!slices.ContainsFunc(op.Items, func(i history.Item) bool { return i.Key == gone.Key })
			})
			if op == nil {
				return false
			}
			op.Items = append(op.Items, h.change(gone.Expect.Version).Item)
			return true
		}},
		{"a page of a list is of another state", check.Lists, func(h *past) bool {
			one := h.any(is(history.PagedList), func(op *history.Op) bool { return len(op.Items) > 1 })
			other := h.any(anyList, func(op *history.Op) bool {
				return one != nil && len(op.Items) > 1 && op.Items[len(op.Items)-1] != one.Items[len(one.Items)-1]
			})
			if other == nil {
				return false
			}
			one.Items = append(one.Items[:len(one.Items)-1:len(one.Items)-1], other.Items[len(other.Items)-1])
			return true
		}},
		{"a cached read goes back", check.ReadsCached, func(h *past) bool {
			for _, at := range h.Perm(len(h.Ops)) {
				first := &h.Ops[at]
				second := h.any(cached, sameSession(first), func(op *history.Op) bool { return op.Key == first.Key })
				old := h.older(first.Key, first.Got.Version)
				if first.Kind == history.CachedGet && first.Outcome == client.OK && second != nil && old.Version != 0 {
					second.Outcome, second.Got = client.OK, old
					return true
				}
			}
			return false
		}},
		{"a cached list goes back", check.ReadsCached, func(h *past) bool {
			for _, at := range h.Perm(len(h.Ops)) {
				first := &h.Ops[at]
				second := h.any(is(history.CachedList), sameSession(first))
				if first.Kind == history.CachedList && first.Version > h.Start && second != nil {
					second.Version, second.Items = h.Start, nil
					return true
				}
			}
			return false
		}},
		{"a cached read finds what never was", check.ReadsCached, func(h *past) bool {
			op := h.any(cached, done)
			if op == nil {
				return false
			}
			op.Got.Value = "another"
			return true
		}},
		{"a cached read finds what nobody has asked for yet", check.ReadsCached, func(h *past) bool {
			write := h.any(is(history.Create, history.Replace), done)
			read := h.any(cached, func(op *history.Op) bool { return op.Key == write.Key && op.Answered < write.Invoked })
			if read == nil {
				return false
			}
			read.Outcome, read.Got = client.OK, write.Got
			return true
		}},
		{"a node ends without something", check.SameState, func(h *past) bool {
			final := &h.Finals[h.IntN(len(h.Finals))]
			if len(final.Items) == 0 {
				return false
			}
			final.Items = final.Items[1:]
			return true
		}},
		{"a node ends with another value", check.SameState, func(h *past) bool {
			final := &h.Finals[h.IntN(len(h.Finals))]
			if len(final.Items) == 0 {
				return false
			}
			final.Items[0].Value = "another"
			return true
		}},
		{"a node ends with something more", check.SameState, func(h *past) bool {
			node := h.IntN(len(h.Finals))
			h.final(node, history.Event{Type: "ADDED", Item: history.Item{Key: "nobody", UID: "u", Version: h.End, Value: "another"}})
			return true
		}},
		{"a checksum differs", check.SameState, func(h *past) bool {
			h.Checksums.Nodes[h.IntN(len(h.Checksums.Nodes))].Checksum = "another"
			return true
		}},
	}
}

// stale lets a later read of the same key find something older than the earlier operation made or
// found.
func (h *past) stale(earlier, later func(*history.Op) bool) bool {
	for _, at := range h.Perm(len(h.Ops)) {
		first := &h.Ops[at]
		if !earlier(first) || first.Outcome != client.OK {
			continue
		}
		second := h.any(later, func(op *history.Op) bool { return op.Key == first.Key && op.Invoked > first.Answered })
		if old := h.older(first.Key, first.Got.Version); second != nil && old.Version != 0 {
			second.Outcome, second.Got = client.OK, old
			return true
		}
	}
	return false
}

// staleList lets a list be that of the beginning, after a write was acknowledged.
func (h *past) staleList() bool {
	write := h.any(is(history.Create), told(client.OK))
	list := h.any(is(history.List, history.PagedList), func(op *history.Op) bool { return op.Invoked > write.Answered })
	if list == nil {
		return false
	}
	list.Version, list.Items = h.Start, nil
	return true
}

func sameSession(first *history.Op) func(*history.Op) bool {
	return func(op *history.Op) bool {
		return op.Client == first.Client && op.Node == first.Node && op.Connection == first.Connection && op.Invoked > first.Answered
	}
}
