package workload_test

import (
	"testing"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/history"
	"quorate/chaos/workload"
)

// TestQuietRunIsRecordedWhole: without faults every request has its answer in the record, of every
// kind and outcome.
func TestQuietRunIsRecordedWhole(t *testing.T) {
	b := newBench(t)
	load := b.start(b.config())
	b.await(1500)
	record := b.finish(load)

	if len(record.Refused)+len(record.Unavailable)+len(record.Unanswered)+len(record.Expired) != 0 {
		t.Errorf("refused %q, unavailable %v, unanswered %v, %v expired", record.Refused, record.Unavailable, record.Unanswered, record.Expired)
	}
	outcomes := map[history.Kind]map[client.Outcome]int{}
	for _, op := range record.Ops {
		if outcomes[op.Kind] == nil {
			outcomes[op.Kind] = map[client.Outcome]int{}
		}
		outcomes[op.Kind][op.Outcome]++
	}
	t.Log(outcomes)
	for kind, wants := range map[history.Kind][]client.Outcome{
		history.Create: {client.OK, client.Conflict}, history.Replace: {client.OK, client.Conflict, client.NotFound},
		history.Delete: {client.OK, client.Conflict, client.NotFound}, history.Get: {client.OK, client.NotFound},
		history.CachedGet: {client.OK, client.NotFound}, history.List: {client.OK}, history.PagedList: {client.OK},
		history.CachedList: {client.OK},
	} {
		for _, want := range wants {
			if outcomes[kind][want] == 0 {
				t.Errorf("no %s was answered with %s", kind, want)
			}
			delete(outcomes[kind], want)
		}
		if len(outcomes[kind]) != 0 {
			t.Errorf("%s was also answered with %v", kind, outcomes[kind])
		}
	}
	checkOps(t, record)
	checkWatches(t, record, 0)
	checkEnd(t, record)
}

// TestStopLosesNoOutcome: what the cluster did is in the record, though clients were stopped with
// requests under way.
func TestStopLosesNoOutcome(t *testing.T) {
	b := newBench(t)
	for _, namespace := range []string{"one", "two"} {
		b.recorder = history.NewRecorder()
		c := b.config()
		c.Namespace, c.Recorder = namespace, b.recorder
		load := b.start(c)
		b.await(300)
		record := b.finish(load)
		checkOps(t, record)
		checkWatches(t, record, 0)
	}
}

// TestKilledNodeLeavesUnknownOutcomes checks that a write in progress when its node is killed is
// recorded as one of unknown outcome, after which its client sends nothing more, and that a write
// that was certainly not sent is counted.
func TestKilledNodeLeavesUnknownOutcomes(t *testing.T) {
	b := newBench(t)
	load := b.start(b.config())
	const kills = 3
	for range kills {
		b.await(200)
		if err := b.fleet.Kill(t.Context(), b.node.Name); err != nil {
			t.Fatal(err)
		}
		if err := b.fleet.Start(t.Context(), b.node.Name); err != nil {
			t.Fatal(err)
		}
	}
	b.await(200)
	record := b.finish(load)

	unknown := map[int]history.Op{}
	for _, op := range record.Ops {
		if before, found := unknown[op.Client]; found && before.Invoked < op.Invoked {
			t.Fatalf("client %d goes on after %+v with %+v", op.Client, before, op)
		}
		if op.Outcome == client.Unknown {
			unknown[op.Client] = op
			if !op.Kind.IsWrite() {
				t.Errorf("a read is recorded as unknown: %+v", op)
			}
		}
	}
	if len(unknown) == 0 || len(record.Unavailable) == 0 || len(record.Unanswered) == 0 {
		t.Errorf("%d unknown, unavailable %v, unanswered %v", len(unknown), record.Unavailable, record.Unanswered)
	}
	if len(record.Refused) != 0 {
		t.Error(record.Refused)
	}
	checkOps(t, record)
	checkWatches(t, record, len(unknown))
	checkEnd(t, record)
	for _, w := range record.Watches {
		if late := w.After > record.Start; !late && w.Streams < 2 {
			t.Errorf("watcher %d was cut off only %d times", w.Client, w.Streams-1)
		}
	}
}

// TestTargetsChangeWhileALoadRuns: nodes that are removed are not asked any more, and those that
// are added are.
func TestTargetsChangeWhileALoadRuns(t *testing.T) {
	b := newBench(t)
	c := b.config()
	c.Watchers = 0
	load := b.start(c)
	b.await(50)
	other := workload.Target{Name: "other", Client: b.node.Client}
	b.targets.Add(other)
	b.targets.Remove(b.node.Name)
	// A client that had chosen before is done with that after some more writes of all.
	b.await(300)
	removed := b.recorder.Now()
	b.await(200)
	b.targets.Add(b.node)
	b.targets.Remove(other.Name)
	if all := b.targets.All(); len(all) != 1 || all[0] != b.node {
		t.Fatal(all)
	}
	b.await(200)
	added := 0
	record := b.finish(load)
	for _, op := range record.Ops {
		if op.Invoked > removed && op.Node == b.node.Name {
			added++
		}
	}
	if added < 200 {
		t.Errorf("%d operations on the node that was added again", added)
	}
}

// TestRateIsKept: all clients together make no more requests than the rate allows.
func TestRateIsKept(t *testing.T) {
	b := newBench(t)
	c := b.config()
	c.Rate = 200
	began := time.Now()
	load := b.start(c)
	b.until(func(int) bool { return b.recorder.Acknowledged() > 60 })
	load.Stop()
	took := time.Since(began)
	record := b.finish(load)
	requests := 0
	for _, op := range record.Ops {
		if op.Kind != history.PagedList { // has several, each of its own
			requests++
		}
	}
	if most := c.Rate*took.Seconds()*1.2 + 60; float64(requests) > most {
		t.Errorf("%d requests in %v, want at most %.0f", requests, took, most)
	}
}

// TestFillCreatesAllKeys: before the clients begin each key is there, once.
func TestFillCreatesAllKeys(t *testing.T) {
	b := newBench(t)
	load, err := workload.Prepare(t.Context(), b.config())
	if err != nil {
		t.Fatal(err)
	}
	if err := load.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := b.recorder.Acknowledged(); got != b.config().Keys {
		t.Errorf("%d keys were created, want %d", got, b.config().Keys)
	}
	load.Begin(t.Context())
	b.await(100)
	record := b.finish(load)
	checkOps(t, record)
	checkWatches(t, record, 0)
	if _, err := workload.Start(t.Context(), b.config()); err == nil {
		t.Error("a load begins where there are objects of others")
	}
}
