package check_test

import (
	"context"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quorate/chaos/check"
	"quorate/chaos/client"
	"quorate/chaos/history"
)

// TestExpiredPositions lets watchers list and begin again after their position has expired. The
// events that they miss are no violation, but events that no watcher received cannot be judged.
func TestExpiredPositions(t *testing.T) {
	complete := 0
	rapid.Check(t, func(t *rapid.T) {
		record := simulate(rapid.Uint64().Draw(t, "seed"), size{
			clients: 6, keys: 4, steps: 30, watchers: rapid.IntRange(1, 6).Draw(t, "watchers"),
			unknown: 0.1, lists: 10, maxLate: 200, mayExpire: true,
		})
		v := check.All(t.Context(), record, check.Options{ExpiredPositions: []check.Excuse{{}}, Timeout: searchTimeout})
		for _, f := range v.Findings {
			if f.Count > 0 {
				t.Errorf("%s: %q", f.Promise, f.Samples)
			}
		}
		if v.Linearizable == check.No {
			t.Error("not linearizable")
		}
		if v.OK() {
			complete++
		}
		if v.Expired > 0 && count(check.All(t.Context(), record, check.Options{Timeout: searchTimeout}), check.WatchResume) == 0 {
			t.Error("positions were too old and nobody minds")
		}
	})
	if complete == 0 {
		t.Error("there is no history in which the watchers together received all changes")
	}
}

// TestWithoutWatchers judges right histories of which no timeline is known: nothing is found,
// though not all can be judged.
func TestWithoutWatchers(t *testing.T) {
	decided := 0
	rapid.Check(t, func(t *rapid.T) {
		record := simulate(rapid.Uint64().Draw(t, "seed"), size{
			clients: rapid.IntRange(1, 6).Draw(t, "clients"), keys: rapid.IntRange(1, 6).Draw(t, "keys"), steps: 30,
			unknown: rapid.SampledFrom([]float64{0, 0.05, 0.3}).Draw(t, "unknown"), lists: 10, maxLate: 200,
		})
		v := check.All(t.Context(), record, check.Options{Timeout: searchTimeout})
		for _, f := range v.Findings {
			if f.Count > 0 {
				t.Errorf("%s: %q", f.Promise, f.Samples)
			}
		}
		switch {
		case v.Linearizable == check.No:
			t.Error("not linearizable")
		case v.Linearizable == check.Yes:
			decided++
		}
		if v.OK() && v.Workloads[history.List].Operations > 0 {
			t.Error("lists were judged by nothing")
		}
	})
	if decided == 0 {
		t.Error("no history was decided")
	}
}

// TestSearch finds flaws where no timeline helps, and leaves a page about each.
func TestSearch(t *testing.T) {
	const histories, enough = 40, 8
	for _, flaw := range append(wrongWrites(), wrongReads()...) {
		switch flaw.name {
		case "a quorum read is older than an acknowledged write", "a quorum read finds what was deleted", "a conflict over the right version",
			"a quorum read finds nothing, though it is there", "what was deleted is there again in the end":
		default:
			continue
		}
		t.Run(flaw.name, func(t *testing.T) {
			t.Parallel()
			found := 0
			for seed := range uint64(histories) {
				h := newPast(seed, size{clients: 3, keys: 2, steps: 30, watchers: 1, unknown: 0.05, lists: 10, maxLate: 200})
				if !flaw.make(h) {
					continue
				}
				h.Watches = nil
				dir := t.TempDir()
				v := check.All(t.Context(), h.Record, check.Options{Timeout: searchTimeout, VisualizationDir: dir})
				if v.Linearizable == check.Yes {
					t.Fatalf("seed %d: nothing was found", seed)
				}
				if v.Linearizable == check.No {
					found++
				}
				// A search that has run out of time before it began leaves no page.
				if len(v.Problems) > 0 || v.Linearizable == check.No && len(v.Visualizations) == 0 {
					t.Fatalf("seed %d: pages %q, problems %q", seed, v.Visualizations, v.Problems)
				}
				for _, page := range v.Visualizations {
					if info, err := os.Stat(page); err != nil || info.Size() == 0 {
						t.Errorf("page %s: %v", page, err)
					}
				}
			}
			if found < enough {
				t.Errorf("%d of %d were decided", found, histories)
			}
		})
	}
}

// TestPages leaves a page about each key that isn't linearizable, with what was done around the
// operation that has no place.
func TestPages(t *testing.T) {
	drawn := 0
	for seed := range uint64(10) {
		h := newPast(seed, size{clients: 10, keys: 2, steps: 300, watchers: 1, unknown: 0.05, lists: 10, maxLate: 200})
		if !h.stale(is(history.Create, history.Replace), is(history.Get)) {
			continue
		}
		v := check.All(t.Context(), h.Record, check.Options{Timeout: 10 * searchTimeout, VisualizationDir: t.TempDir()})
		if v.Linearizable != check.No || len(v.Problems) > 0 || len(v.UndecidedKeys) > 0 {
			t.Errorf("seed %d: linearizable: %s, undecided keys %q, problems %q", seed, v.Linearizable, v.UndecidedKeys, v.Problems)
		}
		for _, page := range v.Visualizations {
			info, err := os.Stat(page)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("seed %d: %d bytes", seed, info.Size())
			drawn++
		}
	}
	if drawn < 8 {
		t.Errorf("%d pages", drawn)
	}
}

// TestCanceled gives up at once, and says so.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	record := simulate(1, size{clients: 3, keys: 2, steps: 30, watchers: 1, lists: 10, maxLate: 200})
	v := check.All(ctx, record, check.Options{})
	if v.OK() || v.Linearizable != check.Undecided || len(v.UndecidedKeys) != 2 {
		t.Errorf("linearizable: %s, undecided keys %q", v.Linearizable, v.UndecidedKeys)
	}
}

// TestUnwritablePage says that a visualization could not be written.
func TestUnwritablePage(t *testing.T) {
	h := newPast(1, size{clients: 3, keys: 1, steps: 30, watchers: 1, lists: 10, maxLate: 200})
	for i := range h.Ops {
		if h.Ops[i].Kind == history.Get {
			h.Ops[i].Got.Value = "another"
		}
	}
	v := check.All(t.Context(), h.Record, check.Options{Timeout: searchTimeout, VisualizationDir: t.TempDir() + "/none"})
	if v.Linearizable != check.No || len(v.Problems) != 1 || len(v.Visualizations) != 0 {
		t.Errorf("linearizable: %s, problems %q, pages %q", v.Linearizable, v.Problems, v.Visualizations)
	}
}

// TestWorkloads counts by kind, and measures the longest times without an answer.
func TestWorkloads(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	op := func(kind history.Kind, outcome client.Outcome, from, to int) history.Op {
		return history.Op{Kind: kind, Key: "a", Outcome: outcome, Invoked: ms(from), Answered: ms(to)}
	}
	record := &history.Record{
		Ops: []history.Op{
			op(history.Create, client.OK, 5, 10), op(history.Create, client.Conflict, 11, 12), op(history.Replace, client.Unknown, 12, 30),
			op(history.Replace, client.OK, 20, 50), op(history.Delete, client.NotFound, 60, 200),
			op(history.Get, client.OK, 0, 1), op(history.Get, client.NotFound, 2, 43), op(history.CachedGet, client.OK, 44, 99),
		},
		Unavailable: map[history.Kind]int{history.Create: 2}, Unanswered: map[history.Kind]int{history.Get: 3},
	}
	v := check.All(t.Context(), record, check.Options{Timeout: searchTimeout})
	want := map[history.Kind]check.Counts{
		history.Create:    {Operations: 4, Acknowledged: 1, Rejected: 1, Unavailable: 2},
		history.Replace:   {Operations: 2, Acknowledged: 1, Unknown: 1},
		history.Delete:    {Operations: 1, Rejected: 1},
		history.Get:       {Operations: 5, Acknowledged: 2, Unknown: 3},
		history.CachedGet: {Operations: 1, Acknowledged: 1},
	}
	for kind, counts := range want {
		if v.Workloads[kind] != counts {
			t.Errorf("%s: %+v, want %+v", kind, v.Workloads[kind], counts)
		}
	}
	if v.LongestUnavailable != ms(40) || v.LongestUnread != ms(42) {
		t.Errorf("longest without a write %v, without a read %v", v.LongestUnavailable, v.LongestUnread)
	}
}

// TestBrokenOff judges histories without a last object and without final states. Writes that
// watchers have not received yet do not count as lost, and no verdict is OK.
func TestBrokenOff(t *testing.T) {
	for seed := range uint64(40) {
		h := newPast(seed, size{clients: 4, keys: 3, steps: 40, watchers: 2, lists: 5, maxLate: 200})
		h.End, h.Finals, h.Checksums = 0, nil, client.Checksums{}
		for i := range h.Watches {
			w := &h.Watches[i]
			w.Events = w.Events[:len(w.Events)/2]
			w.Reached = w.After
		}
		v := check.All(t.Context(), h.Record, check.Options{Timeout: searchTimeout})
		if v.OK() || v.Lost > 0 || count(v, check.NoLoss) > 0 || count(v, check.Linearizable) > 0 {
			t.Fatalf("seed %d: ok %v, lost %d, found %s", seed, v.OK(), v.Lost, found(v))
		}
	}
	if v := check.All(t.Context(), &history.Record{}, check.Options{}); v.OK() {
		t.Error("nothing happened, and all is well")
	}
}
