package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

// The sweep goes through time once and looks for a moment for every quorum operation, between its
// call and its return, such that the changes happen in the order of their versions and every read
// or refusal fits the state at its moment. It is lazy: it postpones a change until the change was
// observed, or until a read or refusal that returns cannot be explained without it.
//
// If a valid order exists, the sweep finds one. At any time it has made no more changes than that
// order has, so it leaves no state earlier than the order does. An operation that the order places
// in a state therefore finds this state, or an equal one for its key, before it returns.

// bound is the call or the return of an operation.
type bound struct {
	at      time.Duration
	returns bool
	change  *change     // that a write made; or else
	op      *history.Op // a read, or a write that was refused
}

// sweep is the position of the sweep through time.
type sweep struct {
	*timeline
	rank    int                // the number of changes made
	now     map[string]*change // the newest change of each key
	waiting map[string][]*history.Op
	placed  map[*history.Op]bool
	found   findings
	traces  map[string]*trace
	// misplaced has, for each key, the first operation for which there is no moment; "" is the key
	// of lists.
	misplaced map[string]misplaced
}

// misplaced is an operation for which there is no moment, and the operations around it.
type misplaced struct {
	operation
	around *chunk // nil: it is the first one
}

// order sweeps over all operations on the keys whose versions are certain, and over the quorum
// lists. For these keys it returns the narrowed history, in which each operation is called only at
// its moment. wrong has, for each key, the first operation for which there is no moment.
func (t *timeline) order(ops []*history.Op, found findings) (traces map[string]*trace, wrong map[string]misplaced) {
	s := &sweep{
		timeline: t, now: map[string]*change{}, waiting: map[string][]*history.Op{}, placed: map[*history.Op]bool{}, found: found,
		misplaced: map[string]misplaced{}, traces: map[string]*trace{},
	}
	for _, b := range t.bounds(ops) {
		switch {
		case b.change != nil:
			s.until(b.change, b.at)
		case !b.returns:
			s.call(b.op)
		default:
			s.ret(b.op)
		}
	}
	return s.traces, s.misplaced
}

// bounds returns the calls and returns of the operations that the sweep has to place, by time. Of a
// write that made a change it has only the return, because the sweep makes a change when another
// operation needs it. Calls precede returns at the same time, because intervals are closed.
func (t *timeline) bounds(ops []*history.Op) []bound {
	bounds := make([]bound, 0, 2*len(ops))
	for _, c := range t.changes {
		bounds = append(bounds, bound{at: c.known(), returns: true, change: c})
	}
	for _, op := range ops {
		if t.made[op] == nil && speaks(op) && !t.doubtful[op.Key] {
			bounds = append(bounds, bound{at: op.Invoked, op: op}, bound{at: op.Answered, returns: true, op: op})
		}
	}
	slices.SortFunc(bounds, func(a, b bound) int {
		if order := cmp.Compare(a.at, b.at); order != 0 || a.returns == b.returns {
			return order
		}
		if b.returns {
			return -1
		}
		return 1
	})
	return bounds
}

// speaks reports whether the response to the operation depends on the newest state.
func speaks(op *history.Op) bool {
	switch op.Kind {
	case history.CachedGet, history.CachedList:
		return false
	case history.List, history.PagedList:
		return op.Outcome == client.OK
	default:
		return op.Outcome == client.OK || op.Outcome == client.NotFound || op.Outcome == client.Conflict
	}
}

// call checks whether the current state fits the operation, and places it if so.
func (s *sweep) call(op *history.Op) {
	if !s.fits(op) {
		s.waiting[op.Key] = append(s.waiting[op.Key], op)
	}
}

// fits places the operation at this moment if the state fits it.
func (s *sweep) fits(op *history.Op) bool {
	if isList(op) {
		s.placed[op] = s.rankAt(op.Version) == s.rank
		return s.placed[op]
	}
	if !allows(op, s.now[op.Key].item()) {
		return false
	}
	s.placed[op] = true
	s.trace(op.Key).call(operation{op, op.Got, done}, s.now[op.Key])
	return true
}

// ret makes the changes without which an operation that returns now can't be explained.
func (s *sweep) ret(op *history.Op) {
	if !s.placed[op] {
		s.waiting[op.Key] = slices.DeleteFunc(s.waiting[op.Key], func(o *history.Op) bool { return o == op })
		rank, ok := s.explained(op)
		if !ok {
			s.found.add(Linearizable, "%s: %s", describeOp(op), s.misfit(op))
			s.misplace(op.Key, operation{op, op.Got, done})
			return
		}
		for s.rank < rank {
			s.make()
		}
		s.fits(op)
	}
	if !isList(op) {
		s.trace(op.Key).ret(op)
	}
}

// explained returns the minimum number of changes that must have been made for the operation to be
// right, and whether all of them had been requested by the time it returned.
func (s *sweep) explained(op *history.Op) (rank int, ok bool) {
	if isList(op) {
		rank = s.rankAt(op.Version)
	} else {
		for c := s.after(op.Key); c != nil; c = s.next(c) {
			if allows(op, c.item()) {
				rank = c.rank + 1
				break
			}
		}
	}
	if rank <= s.rank {
		return 0, false
	}
	for _, c := range s.changes[s.rank:rank] {
		if s.asked(c) > op.Answered {
			return 0, false
		}
	}
	return rank, true
}

// after returns the first change of the key that has not been made yet.
func (s *sweep) after(key string) *change {
	if c := s.now[key]; c != nil {
		return s.next(c)
	}
	return s.first(key)
}

// until makes all changes up to one that was known at a time.
func (s *sweep) until(last *change, at time.Duration) {
	for s.rank <= last.rank {
		if c := s.changes[s.rank]; s.asked(c) > at {
			s.found.add(Linearizable, "%s made version %d, and version %d was known before, at %v",
				describeOp(c.cause), c.version(), last.version(), at)
			s.misplace(c.key(), operation{c.cause, c.event.Item, done})
		}
		s.make()
	}
	if last.cause != nil && !s.doubtful[last.key()] {
		s.trace(last.key()).ret(last.cause)
	}
}

// make makes the next change, at this moment, and places the operations that waited for it.
func (s *sweep) make() {
	c := s.changes[s.rank]
	if c.cause != nil && !s.doubtful[c.key()] {
		s.trace(c.key()).call(operation{c.cause, c.event.Item, done}, s.now[c.key()])
	}
	s.rank++
	s.now[c.key()] = c
	for _, key := range [...]string{c.key(), ""} { // lists have no key
		s.waiting[key] = slices.DeleteFunc(s.waiting[key], s.fits)
	}
}

// misplace records the first operation of a key for which there is no moment.
func (s *sweep) misplace(key string, o operation) {
	if _, known := s.misplaced[key]; known {
		return
	}
	m := misplaced{operation: o}
	if tr := s.traces[key]; tr != nil {
		m.around = tr.last()
	}
	s.misplaced[key] = m
}

// misfit returns the reason why there is no moment for an operation.
func (s *sweep) misfit(op *history.Op) string {
	if isList(op) {
		return fmt.Sprintf("the state of version %d was the newest at no moment in between", op.Version)
	}
	return fmt.Sprintf("%s, %s: right at no moment in between; at its end there is %s",
		op.Outcome, describeItem(op.Got), describeItem(s.now[op.Key].item()))
}

// asked returns the time at which the change was requested, as far as that is certain.
func (t *timeline) asked(c *change) time.Duration {
	if c.cause == nil || t.doubtful[c.key()] {
		return 0
	}
	return c.cause.Invoked
}

// trace returns the narrowed history of a key.
func (s *sweep) trace(key string) *trace {
	tr := s.traces[key]
	if tr == nil {
		tr = newTrace()
		s.traces[key] = tr
	}
	return tr
}

func isList(op *history.Op) bool { return op.Kind == history.List || op.Kind == history.PagedList }
