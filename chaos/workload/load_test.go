package workload_test

import (
	"testing"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/history"
	"quorate/chaos/workload"
)

// TestQuietRunIsRecordedWhole checks that a run without faults records a response to every request,
// and operations of every kind with every outcome.
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

// TestStopLosesNoOutcome checks that the record contains all effects, although clients were stopped
// while requests were in progress.
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

// TestKilledNodeLeavesUnknownOutcomes kills a node while clients write. A write in progress at that
// time must be recorded with an unknown outcome, after which its client number sends nothing more.
// A write that was certainly not sent must be counted as unavailable.
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

// TestTargetsChangeWhileALoadRuns checks that clients stop using removed nodes and begin to use
// added ones.
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

// TestRateIsKept checks that all clients together send no more requests than the rate allows.
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

// TestFillCreatesAllKeys checks that Fill creates each key once, and that a load refuses a
// namespace that has objects.
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
