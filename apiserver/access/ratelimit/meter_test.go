package ratelimit_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"quorate/apiserver/access/ratelimit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bucket is an independent model of one key: it fills with credit while time passes, and an event
// costs one interval.
type bucket struct {
	credit time.Duration
	last   time.Time
}

// TestMeterFollowsTheModel: events are allowed exactly as a bucket of credit for each key allows
// them, also after refusals and bursts.
func TestMeterFollowsTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		perSecond := rapid.SampledFrom([]int{1, 4, 50}).Draw(t, "rate")
		burst := rapid.IntRange(1, 5).Draw(t, "burst")
		interval := time.Second / time.Duration(perSecond)
		full := time.Duration(burst) * interval
		m := ratelimit.New(float64(perSecond), burst)
		now := time.Now()
		model := make(map[string]*bucket)
		of := func(key string) *bucket {
			b := model[key]
			if b == nil {
				b = &bucket{credit: full, last: now}
				model[key] = b
			}
			b.credit, b.last = min(full, b.credit+now.Sub(b.last)), now
			return b
		}
		key := rapid.SampledFrom([]string{"a", "b", "c"})
		t.Repeat(map[string]func(*rapid.T){
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			},
			"take": func(t *rapid.T) {
				k := key.Draw(t, "key")
				b := of(k)
				wait, ok := m.Take(k, now)
				if want := b.credit >= interval; ok != want {
					t.Fatalf("%s: allowed %v, want %v with credit %s", k, ok, want, b.credit)
				}
				if !ok && wait != interval-b.credit {
					t.Fatalf("%s: wait %s, want %s", k, wait, interval-b.credit)
				}
				if ok {
					b.credit -= interval
				}
			},
			"add": func(t *rapid.T) {
				k := key.Draw(t, "key")
				b := of(k)
				b.credit = max(b.credit-interval, -16*interval)
				want := 0
				for debt := -b.credit; debt > 0; debt -= interval {
					want++
				}
				if excess := m.Add(k, now); excess != want {
					t.Fatalf("%s: excess %d, want %d with credit %s", k, excess, want, b.credit)
				}
			},
		})
	})
}

// TestKeysAreBounded: keys that were made up are forgotten, and the rate of others still holds.
func TestKeysAreBounded(t *testing.T) {
	t.Parallel()
	const most = 32 * 2048
	m := ratelimit.New(1, 1)
	now := time.Now()
	for i := range 3 * most {
		m.Add(fmt.Sprint(i), now)
	}
	if n := m.Keys(); n > most {
		t.Errorf("%d keys in memory, want at most %d", n, most)
	}
	now = now.Add(time.Minute)
	for i := range 3 * most {
		m.Take(fmt.Sprint("later", i%100), now)
	}
	for i := range most {
		m.Take(fmt.Sprint("more", i), now)
		now = now.Add(time.Second)
	}
	if n := m.Keys(); n > most/8 {
		t.Errorf("%d keys in memory when all but one are idle", n)
	}
	if _, ok := m.Take("x", now); !ok {
		t.Error("the first event of a key is refused")
	}
	if _, ok := m.Take("x", now); ok {
		t.Error("a key has more than its burst")
	}
}

// TestTakeAtOnce: events at the same moment are allowed up to the burst, and no more.
func TestTakeAtOnce(t *testing.T) {
	t.Parallel()
	m := ratelimit.New(1, 100)
	now := time.Now()
	var allowed atomic.Int64
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for range 50 {
				if _, ok := m.Take("k", now); ok {
					allowed.Add(1)
				}
			}
		})
	}
	clients.Wait()
	if allowed.Load() != 100 {
		t.Errorf("%d events are allowed, want 100", allowed.Load())
	}
}

func BenchmarkTake(b *testing.B) {
	m := ratelimit.New(1e6, 1000)
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		m.Take("user", now)
	}
}
