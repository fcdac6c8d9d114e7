package log

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type stall struct {
	op   string
	took time.Duration
}

// stalls records the calls of a watchdog, each of which comes from a goroutine of its own.
type stalls struct {
	mu    sync.Mutex
	calls []stall
}

func (r *stalls) add(op string, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, stall{op, took})
}

func (r *stalls) want(t *testing.T, want ...stall) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.calls, want) {
		t.Fatalf("calls %v, want %v", r.calls, want)
	}
}

func TestWatchdog(t *testing.T) {
	run := func(name string, fn func(t *testing.T, d *watchdog, calls *stalls)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := &stalls{}
				d := newWatchdog(time.Second, calls.add)
				defer d.stop()
				fn(t, d, calls)
			})
		})
	}
	after := func(d time.Duration) { time.Sleep(d); synctest.Wait() } // on the bubble's clock
	run("fast writes are not reported", func(t *testing.T, d *watchdog, calls *stalls) {
		for range 10 {
			w := d.begin("append")
			after(900 * time.Millisecond)
			w.end()
		}
		calls.want(t)
	})
	run("a stall is reported once", func(t *testing.T, d *watchdog, calls *stalls) {
		w := d.begin("append")
		after(999 * time.Millisecond)
		calls.want(t)
		after(time.Minute)
		calls.want(t, stall{"append", time.Second})
		w.end()
		after(time.Minute)
		calls.want(t, stall{"append", time.Second})
	})
	run("each stalled write is reported", func(t *testing.T, d *watchdog, calls *stalls) {
		first := d.begin("append")
		after(500 * time.Millisecond)
		second := d.begin("set")
		after(600 * time.Millisecond)
		calls.want(t, stall{"append", time.Second})
		after(time.Second)
		calls.want(t, stall{"append", time.Second}, stall{"set", time.Second})
		third := d.begin("trim")
		after(2 * time.Second)
		calls.want(t, stall{"append", time.Second}, stall{"set", time.Second}, stall{"trim", time.Second})
		first.end()
		second.end()
		third.end()
	})
	run("a short write after a stall", func(t *testing.T, d *watchdog, calls *stalls) {
		w := d.begin("append")
		after(2 * time.Second)
		w.end()
		w = d.begin("append")
		after(500 * time.Millisecond)
		w.end()
		after(time.Minute)
		calls.want(t, stall{"append", time.Second})
	})
}

func TestStalledWriteIsReported(t *testing.T) {
	stalls := make(chan time.Duration, 10)
	registry := prometheus.NewRegistry()
	s := open(t, pathOf(t), func(c *Config) {
		c.StallLimit = 20 * time.Millisecond
		c.OnStall = func(took time.Duration) { stalls <- took }
		c.Registerer = registry
	})
	s.writing.Lock() // blocks writes like a hung disk
	done := make(chan error)
	go func() { done <- s.StoreLogs(entries(1, 1, 10)) }()
	if took := <-stalls; took < 20*time.Millisecond {
		t.Errorf("reported after %v", took)
	}
	if n := gather(t, registry)["quorate_raftstore_log_write_stalled_total"]; n != 1 {
		t.Errorf("quorate_raftstore_log_write_stalled_total is %v", n)
	}
	if n := s.watch.inFlight(); n != 1 || !s.Stalled() {
		t.Errorf("%d writes under way, stalled: %t", n, s.Stalled())
	}
	s.writing.Unlock()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	wantContent(t, s, 1, 1, 10)
	if n := s.watch.inFlight(); n != 0 || s.Stalled() || len(stalls) != 0 {
		t.Errorf("%d writes under way, %d more stalls", n, len(stalls))
	}
}

func TestMetricsFollowTheLog(t *testing.T) {
	registry := prometheus.NewRegistry()
	path := pathOf(t)
	s := open(t, path, func(c *Config) { c.Registerer = registry })
	store(t, s, aged(5, 20, 100, time.Hour))
	got := gather(t, registry)
	for name, want := range map[string]float64{
		"first_index": 5, "last_index": 24, "entries": 20, "append_seconds": 1, "appended_entries_total": 20,
		"appended_bytes_total": 2000, "writes_in_progress": 0, "write_stalled_total": 0, "trimmed_entries_total": 0,
		"resets_total": 0, "corrupt_total": 0, "cache_hits_total": 0, "cache_misses_total": 0, "cache_bytes": 20 * (100 + entryOverhead),
	} {
		if v, ok := got["quorate_raftstore_log_"+name]; !ok || v != want {
			t.Errorf("%s is %v (there: %v), want %v", name, v, ok, want)
		}
	}
	if age := got["quorate_raftstore_log_oldest_entry_age_seconds"]; age < 3600 || age > 3700 {
		t.Errorf("age of the oldest entry is %v s", age)
	}
	boot := prometheus.NewRegistry()
	begun := open(t, pathOf(t), func(c *Config) { c.Registerer = boot })
	first := entries(1, 1, 100)
	first[0].AppendedAt = time.Time{} // as in the entry of a bootstrap
	store(t, begun, append(first, aged(2, 10, 100, time.Hour)...))
	if age := gather(t, boot)["quorate_raftstore_log_oldest_entry_age_seconds"]; age < 3600 || age > 3700 {
		t.Errorf("age of the oldest entry is %v s where the one of the bootstrap is kept", age)
	}
	if b := got["quorate_raftstore_log_bytes"]; b < 2000 || b > 4096 {
		t.Errorf("%v bytes", b)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, path, func(c *Config) { c.Registerer = registry }) // registers again
}

// gather returns the values of counters and gauges, and how many values histograms have seen.
func gather(t *testing.T, registry prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		m := f.GetMetric()[0]
		out[f.GetName()] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
	}
	return out
}
