package check_test

import (
	"slices"

	"quorate/chaos/check"
	"quorate/chaos/history"
)

// wrongWatches are flaws of the events that watchers receive.
func wrongWatches() []flaw {
	// one picks an event of a watcher that isn't its last.
	one := func(h *past) (*history.Watch, int) {
		w := &h.Watches[h.IntN(len(h.Watches))]
		return w, h.IntN(len(w.Events) - 1)
	}
	several := func(h *past) bool { return len(h.Watches) > 1 }
	return []flaw{
		{"an event is dropped", check.WatchAll, func(h *past) bool {
			w, n := one(h)
			w.Events = slices.Delete(w.Events, n, n+1)
			return several(h)
		}},
		{"an event comes twice", check.WatchOrder, func(h *past) bool {
			w, n := one(h)
			w.Events = slices.Insert(w.Events, n+1, w.Events[n])
			return true
		}},
		{"an event comes again later", check.WatchOrder, func(h *past) bool {
			w, n := one(h)
			w.Events = append(w.Events, w.Events[n])
			return true
		}},
		{"events change places", check.WatchOrder, func(h *past) bool {
			w, n := one(h)
			w.Events[n], w.Events[n+1] = w.Events[n+1], w.Events[n]
			return true
		}},
		{"an event comes from before the watch", check.WatchOrder, func(h *past) bool {
			w, n := one(h)
			w.After = w.Events[n].Item.Version
			return true
		}},
		{"one watcher receives an event that no write caused", check.WatchTruth, func(h *past) bool {
			w, _ := one(h)
			last := w.Events[len(w.Events)-1]
			last.Item.Version++
			last.Type, last.Item.Value = "MODIFIED", "another"
			w.Events = append(w.Events, last)
			return several(h)
		}},
		{"all watchers receive an event that no write caused", check.WatchTruth, func(h *past) bool {
			h.append(history.Event{Type: "ADDED", Item: history.Item{Key: "nobody", UID: "u", Value: "another"}})
			return true
		}},
		{"all watchers receive a deletion that no client requested", check.WatchTruth, func(h *past) bool {
			for _, item := range h.Finals[0].Items {
				if h.any(is(history.Delete), func(op *history.Op) bool { return op.Expect.UID == item.UID }) == nil {
					h.append(history.Event{Type: "DELETED", Item: item})
					return true
				}
			}
			return false
		}},
		{"one watcher receives another value", check.WatchTruth, func(h *past) bool {
			w, n := one(h)
			w.Events[n].Item.Value = "another"
			return true
		}},
		{"one watcher receives another uid", check.WatchTruth, func(h *past) bool {
			w, n := one(h)
			w.Events[n].Item.UID = "another"
			return several(h)
		}},
		{"one watcher receives another type", check.WatchTruth, func(h *past) bool {
			w, n := one(h)
			w.Events[n].Type = map[string]string{"ADDED": "MODIFIED", "MODIFIED": "ADDED", "DELETED": "MODIFIED"}[w.Events[n].Type]
			return several(h)
		}},
		{"all watchers receive a creation as a modification", check.WatchTruth, func(h *past) bool {
			h.everywhere(h.changes[0].Item.Version, func(e *history.Event) bool { e.Type = "MODIFIED"; return false })
			return true
		}},
		{"a deletion comes with another value", check.WatchTruth, func(h *past) bool {
			for _, event := range h.changes {
				if event.Type == "DELETED" {
					h.everywhere(event.Item.Version, func(e *history.Event) bool { e.Item.Value = "another"; return false })
					return true
				}
			}
			return false
		}},
		{"a watcher never gets to the end", check.WatchResume, func(h *past) bool {
			w, n := one(h)
			w.Events = w.Events[:n]
			w.Reached = w.After
			return reach(*w) < h.End
		}},
		{"a position is too old", check.WatchResume, func(h *past) bool {
			w, _ := one(h)
			w.Expired = &history.Expiry{Node: h.Finals[0].Node}
			return true
		}},
		{"the state of a paged list is gone", check.WatchResume, func(h *past) bool {
			h.Expired = []history.Expiry{{Node: h.Finals[0].Node}}
			return true
		}},
	}
}

func reach(w history.Watch) uint64 {
	if len(w.Events) == 0 {
		return w.Reached
	}
	return max(w.Reached, w.Events[len(w.Events)-1].Item.Version)
}
