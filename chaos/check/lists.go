package check

import (
	"cmp"
	"fmt"
	"slices"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

// state is the state after some of the timeline's changes.
type state struct {
	*timeline
	rank int // the number of changes
	now  map[string]*change
	// late are writes that may still take effect after the last known change, because no client saw
	// an effect of theirs.
	late map[sent]bool
	// unmade are the uids that late deletions may remove.
	unmade map[string]bool
}

func newState(t *timeline, ops []*history.Op) *state {
	s := &state{timeline: t, now: map[string]*change{}, late: map[sent]bool{}, unmade: map[string]bool{}}
	for _, op := range ops {
		if !op.Kind.IsWrite() || op.Outcome != client.Unknown || t.made[op] != nil {
			continue
		}
		if op.Kind == history.Delete {
			s.unmade[op.Expect.UID] = true
		} else {
			s.late[sent{op.Key, op.Value}] = true
		}
	}
	return s
}

// advance advances the state to a version.
func (s *state) advance(version uint64) {
	for ; s.rank < len(s.changes) && s.changes[s.rank].version() <= version; s.rank++ {
		if c := s.changes[s.rank]; c.present() {
			s.now[c.key()] = c
		} else {
			delete(s.now, c.key())
		}
	}
}

// differs describes how items that were read at a version differ from the state at that version,
// and returns "" if they are equal.
func (s *state) differs(version uint64, items []history.Item) string {
	after := version > s.covered // then writes that no client has seen may have taken effect
	seen, matching := make(map[string]bool, len(items)), 0
	for _, item := range items {
		c := s.now[item.Key]
		switch {
		case seen[item.Key]:
			return fmt.Sprintf("%s is in it twice", item.Key)
		case item.Version > version:
			return fmt.Sprintf("%s has version %d, above that of the list", item.Key, item.Version)
		case c.item() == item || after && item.Version > s.covered && s.late[sent{item.Key, item.Value}]:
		case c == nil:
			return fmt.Sprintf("%s has %s; it doesn't exist then", item.Key, describeItem(item))
		default:
			return fmt.Sprintf("%s has %s, not %s", item.Key, describeItem(item), describeItem(c.item()))
		}
		if c != nil {
			matching++
		}
		seen[item.Key] = true
	}
	if matching == len(s.now) {
		return ""
	}
	for key, c := range s.now {
		if !seen[key] && !(after && s.unmade[c.item().UID]) {
			return fmt.Sprintf("%s is missing, %s", key, describeItem(c.item()))
		}
	}
	return ""
}

// lists checks that each list, whether quorum, paged or cached, and the final state of each node
// are exactly the state at their version. Beyond the last known change they may also contain the
// effects of writes of unknown outcome. It returns the number of lists and states that it could not
// judge because the watchers reported too few of the changes.
func lists(r *history.Record, ops []*history.Op, t *timeline, found findings) (unjudged int) {
	type list struct {
		version  uint64
		items    []history.Item
		promise  Promise
		describe func() string
	}
	var all []list
	for _, op := range ops {
		if (op.Kind == history.List || op.Kind == history.PagedList || op.Kind == history.CachedList) && op.Outcome == client.OK {
			all = append(all, list{op.Version, op.Items, Lists, func() string { return describeOp(op) }})
		}
	}
	for i := range r.Finals {
		final := &r.Finals[i]
		all = append(all, list{final.Version, final.Items, SameState, func() string { return "the final state of " + final.Node }})
	}
	slices.SortStableFunc(all, func(a, b list) int { return cmp.Compare(a.version, b.version) })
	s := newState(t, ops)
	for _, l := range all {
		if l.version > t.covered && !t.complete {
			unjudged++
			continue
		}
		s.advance(l.version)
		if problem := s.differs(l.version, l.items); problem != "" {
			found.add(l.promise, "%s at version %d: %s", l.describe(), l.version, problem)
		}
	}
	return unjudged
}
