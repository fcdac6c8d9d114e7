package check

import (
	"fmt"
	"math"
	"slices"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

// session identifies the cached reads of one client over one connection to one node. The state that
// the node serves must never go back within a session.
type session struct {
	client     int
	node       string
	connection int
}

// span is a range of versions, inclusive, at which a read would have returned its result.
type span struct{ first, last uint64 }

// cachedReads checks that each cached read returned a state that existed and whose changes had all
// been requested before the read ended. Within a session, no read may have returned a state older
// than that of a read which had ended before it began. It returns the number of reads that it could
// not judge.
func cachedReads(ops []*history.Op, t *timeline, found findings) (unjudged int) {
	sessions := map[session][]*history.Op{}
	var order []session
	for _, op := range ops {
		if (op.Kind == history.CachedGet || op.Kind == history.CachedList) && answered(op) {
			if !t.complete {
				unjudged++
				continue
			}
			s := session{op.Client, op.Node, op.Connection}
			if sessions[s] == nil {
				order = append(order, s)
			}
			sessions[s] = append(sessions[s], op)
		}
	}
	begun := t.begun()
	for _, s := range order {
		t.session(sessions[s], begun, found)
	}
	return unjudged
}

// begun returns, for each number of changes, the earliest time by which the last of these changes
// had been requested.
func (t *timeline) begun() []time.Duration {
	begun := make([]time.Duration, len(t.changes)+1)
	for i, c := range t.changes {
		begun[i+1] = begun[i]
		if c.cause != nil {
			begun[i+1] = max(begun[i], c.cause.Invoked)
		}
	}
	return begun
}

// session judges the reads of one session, in the order in which they were invoked.
func (t *timeline) session(reads []*history.Op, begun []time.Duration, found findings) {
	type position struct {
		answered time.Duration
		version  uint64
		op       *history.Op
	}
	var open []position // of reads that may still go on when the next one is asked for
	var floor position
	for _, op := range reads {
		open = slices.DeleteFunc(open, func(p position) bool {
			if p.answered >= op.Invoked {
				return false
			}
			if p.version > floor.version {
				floor = p
			}
			return true
		})
		spans := t.spans(op)
		if len(spans) == 0 {
			found.add(ReadsCached, "%s found %s, which never was", describeOp(op), describeItem(op.Got))
			continue
		}
		n := slices.IndexFunc(spans, func(s span) bool { return s.last >= floor.version })
		if n < 0 {
			found.add(ReadsCached, "%s found %s, older than version %d that was read on it by %s",
				describeOp(op), describeRead(op), floor.version, describeOp(floor.op))
			continue
		}
		version := max(spans[n].first, floor.version)
		if begun[t.rankAt(version)] > op.Answered {
			found.add(ReadsCached, "%s found %s, which wasn't asked for yet", describeOp(op), describeRead(op))
			continue
		}
		open = append(open, position{op.Answered, version, op})
	}
}

// spans returns the spans of versions at which the read would have returned its result, in order.
func (t *timeline) spans(op *history.Op) []span {
	switch {
	case op.Kind == history.CachedList:
		return []span{{op.Version, op.Version}}
	case op.Outcome == client.OK:
		if !t.existed(op.Got) {
			return nil
		}
		c := t.at[op.Got.Version]
		return []span{{c.version(), until(t.next(c))}}
	}
	gaps := []span{{0, until(t.first(op.Key))}}
	for _, c := range t.keys[op.Key] {
		if !c.present() {
			gaps = append(gaps, span{c.version(), until(t.next(c))})
		}
	}
	return gaps
}

// until returns the last version before a change, or the maximum if there is no change.
func until(c *change) uint64 {
	if c == nil {
		return math.MaxUint64
	}
	return c.version() - 1
}

func describeRead(op *history.Op) string {
	if op.Kind == history.CachedList {
		return fmt.Sprintf("the state of version %d", op.Version)
	}
	return describeItem(op.Got)
}
