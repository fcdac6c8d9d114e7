package node

import (
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"testing"
	"time"
)

func TestCollectorPercent(t *testing.T) {
	for _, tc := range []struct {
		live uint64
		want int
	}{
		{0, 3200}, // before the first collection
		{16 << 20, 200},
		{32 << 20, 200},
		{64 << 20, 200},
		{160 << 20, 160},
		{256 << 20, 100},
		{400 << 20, 64},
		{512 << 20, 50},
		{10 << 30, 50},
	} {
		if got := collectorPercent(tc.live); got != tc.want {
			t.Errorf("collectorPercent(%d) = %d, want %d", tc.live, got, tc.want)
		}
	}
}

// The target follows the live heap from one collection to the next, until the tuner is stopped.
func TestCollectorTuner(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	if tuner := tuneCollector(func(string) (string, bool) { return "100", true }); tuner != nil {
		t.Fatal("a node whose environment sets GOGC changes it")
	}
	tuner := tuneCollector(func(string) (string, bool) { return "", false })
	defer tuner.stop()

	headroom := func() int64 {
		s := []runtimemetrics.Sample{{Name: "/gc/heap/goal:bytes"}, {Name: "/gc/heap/live:bytes"}}
		runtimemetrics.Read(s)
		return int64(s[0].Value.Uint64()) - int64(s[1].Value.Uint64())
	}
	eventually := func(what string, holds func() bool) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); !holds(); {
			if time.Now().After(deadline) {
				t.Fatalf("%s: %d bytes between collections, GOGC %d", what, headroom(), tuner.current())
			}
			runtime.GC()
		}
	}
	eventually("a small heap", func() bool { return tuner.current() > 200 && headroom() > gcHeadroom*8/10 })

	large := make([]*[1 << 20]byte, 200) // MiB
	for i := range large {
		large[i] = new([1 << 20]byte)
	}
	eventually("a large heap", func() bool { return tuner.current() <= 140 && headroom() > 230<<20 })
	runtime.KeepAlive(large)
	large = nil
	eventually("a heap that is small again", func() bool { return tuner.current() > 200 && headroom() < 200<<20 })

	tuner.stop()
	stopped := tuner.current()
	large = append(large, new([1 << 20]byte))
	for range 5 {
		runtime.GC()
	}
	if tuner.current() != stopped {
		t.Errorf("a stopped tuner changed GOGC from %d to %d", stopped, tuner.current())
	}
	runtime.KeepAlive(large)
}

func (t *collectorTuner) current() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.percent
}
