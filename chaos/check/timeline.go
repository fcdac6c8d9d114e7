package check

import (
	"cmp"
	"slices"
	"time"

	"quorate/chaos/history"
)

// The types of events.
const (
	added    = "ADDED"
	modified = "MODIFIED"
	deleted  = "DELETED"
)

// change is one version of the whole state, as watchers received it.
type change struct {
	event   history.Event // Arrived: when the first watcher received it
	tellers int           // number of watchers that received exactly this event
	before  *change       // the change before it of the same key; nil for the first
	cause   *history.Op   // the write that made it; nil if none is known
	rank    int           // its place in the timeline
}

func (c *change) version() uint64 { return c.event.Item.Version }

func (c *change) key() string { return c.event.Item.Key }

// item returns the object after the change, or the zero Item if there is none. A nil change stands
// for the state before the first change.
func (c *change) item() history.Item {
	if c == nil || c.event.Type == deleted {
		return history.Item{}
	}
	return c.event.Item
}

func (c *change) present() bool { return c.item() != history.Item{} }

// tells reports whether the event is of this change, regardless of where and when it arrived.
func (c *change) tells(e *history.Event) bool {
	return c.event.Type == e.Type && c.event.Item == e.Item
}

// timeline contains all changes, by version, as far as the watchers together report them and the
// writes explain them.
type timeline struct {
	changes []*change // by version
	at      map[uint64]*change
	keys    map[string][]*change // by version
	// made maps each write to its change.
	made    map[*history.Op]*change
	start   uint64
	watched []stretch // in which somebody always watched
	// covered is the version up to which no change is missing, if all watchers received every
	// change; complete reports whether that is the whole history.
	covered  uint64
	complete bool
	// doubtful keys have an uncertain history: the reported events and the writes do not fit.
	doubtful map[string]bool
}

// newTimeline joins the events of the watchers. It leaves out an event that few of them received
// and no write explains.
func newTimeline(r *history.Record, w *writes) *timeline {
	t := &timeline{
		start: r.Start, at: map[uint64]*change{}, keys: map[string][]*change{}, made: map[*history.Op]*change{}, doubtful: map[string]bool{},
	}
	stretches := stretchesOf(r.Watches)
	t.watched = merge(stretches)
	t.covered = t.reaches(r.Start)
	t.complete = r.End > 0 && t.covered >= r.End // without an end it is unknown which changes watchers had to receive
	for _, told := range union(r.Watches) {
		if c := choose(told, stretches, w); c != nil {
			t.changes = append(t.changes, c)
		}
	}
	slices.SortFunc(t.changes, func(a, b *change) int { return cmp.Compare(a.version(), b.version()) })
	for rank, c := range t.changes {
		c.rank = rank
		t.at[c.version()] = c
		past := t.keys[c.key()]
		if len(past) > 0 {
			c.before = past[len(past)-1]
		}
		t.keys[c.key()] = append(past, c)
	}
	return t
}

// union returns, for each version, the changes received: one, unless watchers disagree.
func union(watches []history.Watch) map[uint64][]*change {
	all := map[uint64][]*change{}
	for i := range watches {
		var last uint64
		for j := range watches[i].Events {
			e := &watches[i].Events[j]
			told := all[e.Item.Version]
			n := slices.IndexFunc(told, func(c *change) bool { return c.tells(e) })
			if n < 0 {
				all[e.Item.Version] = append(told, &change{event: *e, tellers: 1})
				continue
			}
			told[n].event.Arrived = min(told[n].event.Arrived, e.Arrived)
			if e.Item.Version > last { // a repetition is no further witness
				told[n].tellers++
			}
			last = max(last, e.Item.Version)
		}
	}
	return all
}

// choose returns the change to believe among those that watchers reported for one version: the one
// that most watchers reported of those that a write explains; if none does, the one that most
// watchers reported, provided that these are at least half of the watchers that could have. It
// returns nil if there is none.
func choose(told []*change, watches []stretch, w *writes) *change {
	most := func(a, b *change) int { return cmp.Compare(a.tellers, b.tellers) }
	explained := slices.DeleteFunc(slices.Clone(told), func(c *change) bool { return !w.explain(&c.event) })
	if len(explained) > 0 {
		return slices.MaxFunc(explained, most)
	}
	c := slices.MaxFunc(told, most)
	listening := 0
	for _, s := range watches {
		if s.after < c.version() && c.version() <= s.upTo {
			listening++
		}
	}
	if 2*c.tellers >= listening {
		return c
	}
	return nil
}

// reach returns the version up to which a watcher claims to have received everything.
func reach(w *history.Watch) uint64 {
	upTo := w.Reached
	for i := range w.Events {
		upTo = max(upTo, w.Events[i].Item.Version)
	}
	return upTo
}

// stretch is a range of versions whose changes a watcher claims to have received.
type stretch struct{ after, upTo uint64 }

func stretchesOf(watches []history.Watch) []stretch {
	list := make([]stretch, len(watches))
	for i := range watches {
		list[i] = stretch{watches[i].After, reach(&watches[i])}
	}
	slices.SortFunc(list, func(a, b stretch) int { return cmp.Compare(a.after, b.after) })
	return list
}

// merge joins adjacent and overlapping stretches, which must be sorted by their beginning.
func merge(stretches []stretch) (merged []stretch) {
	for _, s := range stretches {
		if last := len(merged) - 1; last >= 0 && s.after <= merged[last].upTo {
			merged[last].upTo = max(merged[last].upTo, s.upTo)
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}

// reaches returns the version up to which at least one watcher was always watching, from a version
// on.
func (t *timeline) reaches(from uint64) uint64 {
	for _, s := range t.watched {
		if s.after <= from {
			from = max(from, s.upTo)
		}
	}
	return from
}

// follows reports whether no change of the key can be missing between the change before and c,
// because a watcher covered that time.
func (t *timeline) follows(c *change) bool {
	from := t.start
	if c.before != nil {
		from = c.before.version()
	}
	return t.reaches(from) >= c.version()
}

// rankAt returns the number of changes up to a version.
func (t *timeline) rankAt(version uint64) int {
	n, _ := slices.BinarySearchFunc(t.changes, version, func(c *change, v uint64) int {
		if c.version() <= v {
			return -1
		}
		return 1
	})
	return n
}

// next returns the change after c of the same key, or nil.
func (t *timeline) next(c *change) *change {
	past := t.keys[c.key()]
	n, _ := slices.BinarySearchFunc(past, c.rank+1, func(other *change, rank int) int { return cmp.Compare(other.rank, rank) })
	if n == len(past) {
		return nil
	}
	return past[n]
}

// first returns the first change of a key, or nil.
func (t *timeline) first(key string) *change {
	if past := t.keys[key]; len(past) > 0 {
		return past[0]
	}
	return nil
}

// existed reports whether the item is a version of its key that existed.
func (t *timeline) existed(item history.Item) bool {
	c := t.at[item.Version]
	return c != nil && c.item() == item
}

// known returns when the change was known to have happened: when its writer received the response,
// or the first watcher.
func (c *change) known() time.Duration {
	if c.cause != nil && acknowledged(c.cause) {
		return min(c.cause.Answered, c.event.Arrived)
	}
	return c.event.Arrived
}
