package workload_test

import (
	"slices"
	"testing"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

// checkOps looks whether the record of each operation can be judged.
func checkOps(t *testing.T, record history.Record) {
	t.Helper()
	values, rivals := map[string]bool{}, map[string]map[int]bool{}
	last := map[int]history.Op{}
	for _, op := range record.Ops {
		if op.Invoked >= op.Answered || op.Client == 0 || op.Node == "" {
			t.Fatalf("not whole: %+v", op)
		}
		// An operation is recorded when it ends, so those of one client come in order.
		if before := last[op.Client]; before.Answered > op.Invoked {
			t.Fatalf("client %d does two things at once: %+v and %+v", op.Client, before, op)
		}
		last[op.Client] = op
		if op.Kind == history.Create || op.Kind == history.Replace {
			if values[op.Value] || op.Value == "" {
				t.Fatalf("value %q is not unique", op.Value)
			}
			values[op.Value] = true
		}
		if op.Kind.IsWrite() {
			if rivals[op.Key] == nil {
				rivals[op.Key] = map[int]bool{}
			}
			rivals[op.Key][op.Client] = true
		}
		checkOp(t, op)
	}
	if contended := slices.MaxFunc(mapValues(rivals), func(a, b map[int]bool) int { return len(a) - len(b) }); len(contended) < 3 {
		t.Errorf("at most %d clients fight for a key", len(contended))
	}
}

func mapValues(m map[string]map[int]bool) (all []map[int]bool) {
	for _, v := range m {
		all = append(all, v)
	}
	return all
}

func checkOp(t *testing.T, op history.Op) {
	t.Helper()
	ok := op.Outcome == client.OK
	switch op.Kind {
	case history.Create, history.Replace:
		if ok && (op.Got.Key != op.Key || op.Got.Value != op.Value || op.Got.UID == "" || op.Got.Version <= op.Expect.Version) {
			t.Fatalf("stored another: %+v", op)
		}
	case history.Delete:
		if ok && op.Got.UID != op.Expect.UID {
			t.Fatalf("deleted another: %+v", op)
		}
	case history.Get, history.CachedGet:
		if ok != (op.Got.Version != 0) || ok && op.Got.Key != op.Key {
			t.Fatalf("read another: %+v", op)
		}
	default:
		inOrder := slices.IsSortedFunc(op.Items, func(a, b history.Item) int {
			if a.Key < b.Key {
				return -1
			}
			return 1
		})
		// A node that has just started has no state yet: version 0.
		versioned := op.Version != 0 || op.Kind == history.CachedList && len(op.Items) == 0
		if !ok || !versioned || !inOrder {
			t.Fatalf("no list: %+v", op)
		}
	}
	if (op.Kind == history.Replace || op.Kind == history.Delete) && (op.Expect.Version == 0 || op.Expect.UID == "") {
		t.Fatalf("unconditional: %+v", op)
	}
	if (op.Kind == history.CachedGet || op.Kind == history.CachedList) != (op.Connection != 0) {
		t.Fatalf("connection: %+v", op)
	}
}

// checkWatches looks whether the watchers saw as many changes as writes were acknowledged, up to as
// many more as are unknown, all of them by writes that are in the record.
func checkWatches(t *testing.T, record history.Record, unknown int) {
	t.Helper()
	acknowledged, sent := 0, map[string]bool{}
	for _, op := range record.Ops {
		sent[op.Value] = true
		if op.Kind.IsWrite() && op.Outcome == client.OK {
			acknowledged++
		}
	}
	late := 0
	for _, w := range record.Watches {
		if w.Reached < record.End || w.Expired != nil {
			t.Errorf("watcher %d reached %d, end is %d; expired %v", w.Client, w.Reached, record.End, w.Expired)
		}
		if w.After > record.Start {
			late++
		} else if len(w.Events) < acknowledged || len(w.Events) > acknowledged+unknown {
			t.Errorf("watcher %d saw %d changes of %d and %d unknown", w.Client, len(w.Events), acknowledged, unknown)
		}
		for _, e := range w.Events {
			if !sent[e.Item.Value] {
				t.Fatalf("nobody is recorded to have written %+v", e)
			}
		}
	}
	if len(record.Watches) < 6 || late == 0 {
		t.Errorf("%d watches, %d of latecomers", len(record.Watches), late)
	}
}

// checkEnd looks whether the final state is there.
func checkEnd(t *testing.T, record history.Record) {
	t.Helper()
	if record.Start == 0 || record.End <= record.Start {
		t.Errorf("from %d to %d", record.Start, record.End)
	}
	if len(record.Finals) != 1 || record.Finals[0].Version < record.End || len(record.Finals[0].Items) == 0 {
		t.Errorf("finals %+v", record.Finals)
	}
	sums := record.Checksums
	if sums.Index < record.End || len(sums.Nodes) != 1 || sums.Nodes[0].Checksum == "" || len(sums.Diverged) != 0 {
		t.Errorf("checksums %+v", sums)
	}
}
