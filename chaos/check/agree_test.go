package check_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"quorate/chaos/check"
	"quorate/chaos/client"
	"quorate/chaos/history"
)

// TestSweepAgreesWithSearch changes some responses about one key at random, so that the history may
// be linearizable or not, and compares the verdict of the sweep, which knows the order of the
// versions, with that of porcupine's search, which tries all orders.
func TestSweepAgreesWithSearch(t *testing.T) {
	verdicts := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		record := simulate(rapid.Uint64().Draw(t, "seed"), size{
			clients: rapid.IntRange(1, 5).Draw(t, "clients"), keys: 1, steps: rapid.IntRange(5, 25).Draw(t, "steps"), watchers: 1,
			unknown: 0.1, lists: 1 << 30, maxLate: 200,
		})
		distort(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "distortion"), 0)), record)
		swept, confirmed, searched := check.Agreement(t.Context(), record, 5*time.Second)
		if searched == porcupine.Unknown {
			t.Skip("too hard for a search")
		}
		verdicts[swept]++
		if swept != (searched == porcupine.Ok) || swept && !confirmed {
			t.Fatalf("the sweep says %t (confirmed: %t), the search %s", swept, confirmed, searched)
		}
	})
	if !testing.Short() && (verdicts[true] < 10 || verdicts[false] < 10) { // fewer are drawn then
		t.Errorf("too few of one kind: %v", verdicts)
	}
}

// distort lets some reads and refusals be others, or come at another time.
func distort(r *rand.Rand, record *history.Record) {
	for range 1 + r.IntN(2) {
		op := &record.Ops[r.IntN(len(record.Ops))]
		other := &record.Ops[r.IntN(len(record.Ops))]
		switch {
		case op.Kind == history.Get && r.IntN(2) == 0:
			op.Outcome, op.Got = client.NotFound, history.Item{}
		case op.Kind == history.Get && other.Outcome == client.OK && other.Kind != history.Delete:
			op.Outcome, op.Got = client.OK, other.Got
		case op.Outcome == client.Conflict && op.Kind != history.Create:
			op.Outcome = client.NotFound
		case op.Outcome == client.NotFound && op.Kind.IsWrite():
			op.Outcome = client.Conflict
		case op.Outcome == client.Conflict || op.Outcome == client.NotFound:
			op.Invoked, op.Answered = other.Invoked, other.Answered
		}
	}
}
