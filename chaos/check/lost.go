package check

import (
	"fmt"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

// losses are the acknowledged writes that had no effect, or whose effect was lost, with the
// evidence.
type losses map[*history.Op]string

// lostWrites compares every acknowledged write with the events of the watchers and with the
// final state of every node.
func lostWrites(r *history.Record, ops []*history.Op, t *timeline) losses {
	gone := losses{}
	byKey := map[string][]*history.Op{}
	for _, op := range ops {
		if !op.Kind.IsWrite() {
			continue
		}
		byKey[op.Key] = append(byKey[op.Key], op)
		if acknowledged(op) && t.made[op] == nil && (t.complete || op.Got.Version != 0 && op.Got.Version <= t.covered) {
			gone[op] = "no watcher received it"
		}
	}
	for i := range r.Finals {
		final := &r.Finals[i]
		items := byName(final.Items)
		for key, writes := range byKey {
			gone.inFinal(final.Node, items[key], writes)
		}
	}
	for op := range gone {
		t.doubtful[op.Key] = true
	}
	return gone
}

// inFinal compares the writes of one key with a node's final item. The item shows only the last
// write and deletions of the object.
func (l losses) inFinal(node string, item history.Item, writes []*history.Op) {
	var last *history.Op
	for _, op := range writes {
		if !acknowledged(op) {
			continue
		}
		if op.Kind == history.Delete && op.Expect.UID == item.UID {
			l[op] = fmt.Sprintf("%s still has version %d", node, item.Version)
		}
		if op.Kind != history.Delete && (last == nil || op.Got.Version > last.Got.Version) {
			last = op
		}
	}
	switch {
	case last == nil:
	case item == history.Item{}:
		if !mayBeDeleted(last.Got, writes) {
			l[last] = fmt.Sprintf("%s has nothing", node)
		}
	case item.Version < last.Got.Version || item.Version == last.Got.Version && item.Value != last.Value:
		l[last] = fmt.Sprintf("%s has version %d, value %q", node, item.Version, item.Value)
	}
}

// mayBeDeleted reports whether a client may have deleted the object at that version or a later one.
func mayBeDeleted(item history.Item, writes []*history.Op) bool {
	for _, op := range writes {
		if op.Kind == history.Delete && mayHaveHappened(op) && op.Expect.UID == item.UID && op.Expect.Version >= item.Version {
			return true
		}
	}
	return false
}

func byName(items []history.Item) map[string]history.Item {
	named := make(map[string]history.Item, len(items))
	for _, item := range items {
		named[item.Key] = item
	}
	return named
}

// tell adds the losses to the findings.
func (l losses) tell(ops []*history.Op, found findings) {
	for _, op := range ops {
		if why, gone := l[op]; gone {
			found.add(NoLoss, "%s got version %d: %s", describeOp(op), op.Got.Version, why)
		}
	}
}

// answers finds responses that no correct server sends, and responses about another object.
func answers(r *history.Record, ops []*history.Op, o Options, found findings) {
	for _, text := range r.Refused {
		found.add(Answers, "%s", text)
	}
	for _, op := range ops {
		if op.Outcome != client.OK {
			continue
		}
		switch op.Kind {
		case history.Create, history.Replace:
			if op.Got.Key != op.Key || op.Got.Value != op.Value || op.Kind == history.Replace && op.Got.UID != op.Expect.UID {
				found.add(Answers, "the response to %s is %+v", describeOp(op), op.Got)
			}
		case history.Delete:
			if op.Got.UID != op.Expect.UID {
				found.add(Answers, "%s of uid %s was answered with the deletion of %s", describeOp(op), op.Expect.UID, op.Got.UID)
			}
		case history.Get, history.CachedGet:
			if op.Got.Key != op.Key {
				found.add(Answers, "%s was answered with %q", describeOp(op), op.Got.Key)
			}
		}
	}
	for i := range r.Expired {
		if e := &r.Expired[i]; !excused(o.ExpiredLists, e) {
			found.add(WatchResume, "%s refused a paged list at %v because its state has expired, which no fault explains: %s",
				e.Node, e.At.Round(time.Millisecond), e.Text)
		}
	}
}
