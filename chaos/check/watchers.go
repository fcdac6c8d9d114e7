package check

import (
	"slices"
	"time"

	"quorate/chaos/history"
)

// watchers compares each watcher with the timeline: it must have received all changes between its
// positions, once and in order, and nothing else, and it must have reached the end of the history.
// If its position expired, which is a finding unless o excuses it, another watch of the same client
// must have reached the end. watchers returns the number of events delivered to all watchers.
func watchers(r *history.Record, t *timeline, o Options, found findings) (delivered int) {
	arrived := map[int]bool{}
	for i := range r.Watches {
		w := &r.Watches[i]
		delivered += len(w.Events)
		upTo := reach(w)
		if e := w.Expired; e != nil && !excused(o.ExpiredPositions, e) {
			found.add(WatchResume, "watcher %d: position %d was said to be too old by %s at %v, which no fault explains: %s",
				w.Client, upTo, e.Node, e.At.Round(time.Millisecond), e.Text)
		}
		arrived[w.Client] = arrived[w.Client] || upTo >= r.End
		t.watcher(w, upTo, found)
	}
	for i := range r.Watches {
		// Another watch of the same client follows a watch that expired.
		if w := &r.Watches[i]; w.Expired == nil && reach(w) < r.End || !arrived[w.Client] {
			found.add(WatchResume, "watcher %d came only to version %d of %d", w.Client, reach(w), r.End)
		}
	}
	return delivered
}

// Excuse is a fault of a node that explains a kind of response of that node, from a time on.
type Excuse struct {
	Node string // "" for all nodes
	From time.Duration
}

// excused reports whether a fault explains that a node refused a position or state as too old.
func excused(by []Excuse, e *history.Expiry) bool {
	return slices.ContainsFunc(by, func(x Excuse) bool { return (x.Node == "" || x.Node == e.Node) && x.From <= e.At })
}

// watcher judges the events of one watcher.
func (t *timeline) watcher(w *history.Watch, upTo uint64, found findings) {
	told := make(map[uint64]bool, len(w.Events))
	last := w.After
	for i := range w.Events {
		e := &w.Events[i]
		version := e.Item.Version
		switch c := t.at[version]; {
		case told[version]:
			found.add(WatchOrder, "watcher %d on %s: %s again, after %d", w.Client, e.Node, describeEvent(e), last)
			continue
		case version <= last:
			found.add(WatchOrder, "watcher %d on %s: %s after %d", w.Client, e.Node, describeEvent(e), last)
		case c == nil:
			found.add(WatchTruth, "watcher %d on %s: %s, which few watchers received and no write caused", w.Client, e.Node, describeEvent(e))
		case !c.tells(e):
			found.add(WatchTruth, "watcher %d on %s: %s; others received %s", w.Client, e.Node, describeEvent(e), describeEvent(&c.event))
		}
		told[version] = true
		last = max(last, version)
	}
	for _, c := range t.changes[t.rankAt(w.After):t.rankAt(upTo)] {
		if !told[c.version()] {
			found.add(WatchAll, "watcher %d, which reached version %d, did not receive %s", w.Client, upTo, describeEvent(&c.event))
		}
	}
}
