package check

import (
	"quorate/chaos/history"
)

// watchers holds each watcher against the timeline: everything between its positions, once and in order, and nothing else. It returns
// how many events were delivered to all.
func watchers(r *history.Record, t *timeline, o Options, found findings) (delivered int) {
	arrived := map[int]bool{}
	for i := range r.Watches {
		w := &r.Watches[i]
		delivered += len(w.Events)
		upTo := reach(w)
		if !o.AllowExpired && w.Expired > 0 {
			found.add(WatchResume, "watcher %d: position %d was said to be too old", w.Client, upTo)
		}
		arrived[w.Client] = arrived[w.Client] || upTo >= r.End
		t.watcher(w, upTo, found)
	}
	for i := range r.Watches {
		// A watch that expired was followed by another one of the same client.
		if w := &r.Watches[i]; w.Expired == 0 && reach(w) < r.End || !arrived[w.Client] {
			found.add(WatchResume, "watcher %d came only to version %d of %d", w.Client, reach(w), r.End)
		}
	}
	return delivered
}

// watcher judges what one watcher was told.
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
			found.add(WatchTruth, "watcher %d on %s: %s, which only few were told and nobody did", w.Client, e.Node, describeEvent(e))
		case !c.tells(e):
			found.add(WatchTruth, "watcher %d on %s: %s; others were told %s", w.Client, e.Node, describeEvent(e), describeEvent(&c.event))
		}
		told[version] = true
		last = max(last, version)
	}
	for _, c := range t.changes[t.rankAt(w.After):t.rankAt(upTo)] {
		if !told[c.version()] {
			found.add(WatchAll, "watcher %d, told of all up to %d: not of %s", w.Client, upTo, describeEvent(&c.event))
		}
	}
}
