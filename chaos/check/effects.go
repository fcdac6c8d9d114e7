package check

import (
	"fmt"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

// sent identifies a create or replace by its content; no two are equal.
type sent struct{ key, value string }

// target is the object and version on which a replace or deletion is conditional.
type target struct {
	uid     string
	version uint64
}

// writes finds the write that made a change.
type writes struct {
	sent    map[sent]*history.Op
	deletes map[string][]*history.Op // by uid, in the order in which they were asked for, without those that were refused
}

// newWrites requires operations in the order in which they were invoked.
func newWrites(ops []*history.Op) *writes {
	w := &writes{sent: map[sent]*history.Op{}, deletes: map[string][]*history.Op{}}
	for _, op := range ops {
		switch {
		case op.Kind == history.Create || op.Kind == history.Replace:
			w.sent[sent{op.Key, op.Value}] = op
		case op.Kind == history.Delete && mayHaveHappened(op):
			w.deletes[op.Expect.UID] = append(w.deletes[op.Expect.UID], op)
		}
	}
	return w
}

// acknowledged reports whether the write was acknowledged.
func acknowledged(op *history.Op) bool { return op.Kind.IsWrite() && op.Outcome == client.OK }

// mayHaveHappened reports whether the write was not refused.
func mayHaveHappened(op *history.Op) bool {
	return op.Outcome == client.OK || op.Outcome == client.Unknown
}

// explain reports whether a write could have caused the event. The content of a deletion does not
// identify the write.
func (w *writes) explain(e *history.Event) bool {
	op := w.sent[sent{e.Item.Key, e.Item.Value}]
	return op != nil && e.Type == eventOf(op.Kind) && mayHaveHappened(op) && (!acknowledged(op) || op.Got == e.Item)
}

// eventOf is the type of the event that a write of the kind causes.
func eventOf(kind history.Kind) string { return [...]string{added, modified, deleted}[kind] }

// causeOf returns the write that made a change, or nil if there is none. If several deletions of
// the object could have made the change, it prefers one that is conditional on the version before
// c, but only if certain is true, that is, if this version is known. Next it prefers an
// acknowledged deletion, and then the one that was invoked first, because nothing distinguishes the
// others.
func (w *writes) causeOf(c *change, certain bool) *history.Op {
	if c.event.Type != deleted {
		return w.sent[sent{c.key(), c.event.Item.Value}]
	}
	var best *history.Op
	merit := 0
	for _, op := range w.deletes[c.event.Item.UID] {
		m := 1
		if certain && op.Expect.Version == c.before.item().Version {
			m += 2
		}
		if acknowledged(op) {
			m++
		}
		if op.Key == c.key() && m > merit {
			best, merit = op, m
		}
	}
	return best
}

// effects finds the write behind each change, and checks that it could make this change, once.
func (t *timeline) effects(w *writes, found findings) {
	uids := map[string]bool{}
	for _, c := range t.changes {
		promise, problem := Effects, ""
		c.cause = w.causeOf(c, t.follows(c))
		switch {
		case c.cause == nil || !mayHaveHappened(c.cause):
			promise, problem = unexplained(c)
		case t.made[c.cause] != nil:
			problem = fmt.Sprintf("the %s that made version %d has effect again", c.cause.Kind, t.made[c.cause].version())
		case c.event.Type != eventOf(c.cause.Kind):
			promise, problem = WatchTruth, fmt.Sprintf("caused by a %s", c.cause.Kind)
		default:
			t.made[c.cause] = c
			promise, problem = t.misfit(c)
		}
		if c.event.Type == added && problem == "" && uids[c.event.Item.UID] {
			problem = "the uid was another object's"
		}
		uids[c.event.Item.UID] = true
		if problem != "" {
			t.doubtful[c.key()] = true
			found.add(promise, "%s: %s", describeEvent(&c.event), problem)
		}
	}
}

// unexplained describes the violation of a change that no write caused.
func unexplained(c *change) (Promise, string) {
	if c.cause != nil {
		return Effects, fmt.Sprintf("the %s was answered with %q, but took effect", c.cause.Kind, c.cause.Outcome)
	}
	return WatchTruth, "no write that could have caused it was sent, or all of them were refused"
}

// misfit returns the reason why the change can't follow the one before it, or contradicts the
// response to its write, and "" if there is none.
func (t *timeline) misfit(c *change) (Promise, string) {
	had, op := c.before.item(), c.cause
	switch {
	case acknowledged(op) && op.Kind != history.Delete && op.Got != c.event.Item:
		return WatchTruth, fmt.Sprintf("its writer received version %d of %s, value %q", op.Got.Version, op.Got.UID, op.Got.Value)
	case !t.follows(c):
	case op.Kind == history.Create && c.before.present():
		return Effects, fmt.Sprintf("created over version %d", had.Version)
	case op.Kind != history.Create && !c.before.present():
		return Effects, fmt.Sprintf("%s of what isn't there", op.Kind)
	case op.Kind != history.Create && (had.UID != op.Expect.UID || had.Version != op.Expect.Version):
		return Effects, fmt.Sprintf("%s of version %d of %s has effect over version %d of %s",
			op.Kind, op.Expect.Version, op.Expect.UID, had.Version, had.UID)
	case op.Kind != history.Create && had.UID != c.event.Item.UID:
		return Effects, fmt.Sprintf("the uid was %s", had.UID)
	case op.Kind == history.Delete && had.Value != c.event.Item.Value:
		return WatchTruth, fmt.Sprintf("what was deleted held %q", had.Value)
	}
	return Effects, ""
}
