package watch

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/prometheus/client_golang/prometheus"
)

// TestStreamsExpire opens streams that are valid for different times and ends some of them early:
// Streams cancels each of the others when its own time is over, neither earlier nor later, and keeps
// nothing of those that have ended.
func TestStreamsExpire(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			s := New(atMost(1000), prometheus.NewRegistry())
			due := make(map[*Stream]time.Time) // of those that are open and have not expired
			var over []*Stream                 // expired, and still open
			for range 400 {
				switch n := random.IntN(10); {
				case n < 5:
					st := new(Stream)
					st.ctx.Init(t.Context())
					valid := time.Duration(random.IntN(60)-2) * time.Second
					if err := s.add(st, &Options{Timeout: valid}); err != nil {
						t.Fatal(err)
					}
					due[st] = time.Now().Add(valid)
				case n < 7:
					for st := range due {
						s.remove(st)
						delete(due, st)
						break
					}
				case n < 8:
					for _, st := range over {
						s.remove(st)
					}
					over = nil
				default:
					time.Sleep(time.Duration(random.IntN(5000)) * time.Millisecond)
				}
				synctest.Wait()
				for st, at := range due {
					cause := st.ctx.Cause()
					if expired := !at.After(time.Now()); expired != (cause == context.DeadlineExceeded) { //nolint:errorlint // the value itself
						t.Fatalf("seed %d: %v, %s before the stream expires", seed, cause, time.Until(at))
					} else if expired {
						over = append(over, st)
						delete(due, st)
					}
				}
				if n := s.Open(); n != len(due)+len(over) {
					t.Fatalf("seed %d: %d streams are open, want %d and %d", seed, n, len(due), len(over))
				}
			}
			for st := range due {
				s.remove(st)
			}
			for _, st := range over {
				s.remove(st)
			}
			if s.Open() != 0 || s.expiry.Stop() {
				t.Errorf("seed %d: %d streams are open without any, or their timer still runs", seed, s.Open())
			}
		})
	}
}

// TestLongestTimeouts: a stream that is valid for longer than the clock can tell, or has long
// expired, keeps no other from expiring.
func TestLongestTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(atMost(3), prometheus.NewRegistry())
		time.Sleep(time.Hour)
		var all [3]*Stream
		for i, valid := range []time.Duration{math.MaxInt64, math.MinInt64, time.Second} {
			all[i] = new(Stream)
			all[i].ctx.Init(t.Context())
			if err := s.add(all[i], &Options{Timeout: valid}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		for i, st := range all {
			if expired := st.ctx.Cause() != nil; expired != (i > 0) {
				t.Errorf("stream %d: %v", i, st.ctx.Cause())
			}
			s.remove(st)
		}
	})
}

// TestManyStreamsExpireTogether: streams that expire at the same time all end, in passes between
// which others get the lock.
func TestManyStreamsExpireTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count = 3*maxExpired + 1
		s := New(atMost(count), prometheus.NewRegistry())
		var all []*Stream
		ended := func() (n int) {
			for _, st := range all {
				if st.ctx.Cause() != nil {
					n++
				}
			}
			return n
		}
		for range count {
			st := new(Stream)
			st.ctx.Init(t.Context())
			if err := s.add(st, &Options{Timeout: time.Minute}); err != nil {
				t.Fatal(err)
			}
			all = append(all, st)
		}
		s.began = s.began.Add(-time.Hour)
		s.expire()
		if n := ended(); n != maxExpired {
			t.Errorf("%d streams ended in one pass", n)
		}
		synctest.Wait()
		if n := ended(); n != count {
			t.Errorf("%d of %d streams ended", n, count)
		}
		for _, st := range all {
			s.remove(st)
		}
	})
}

// TestSizeOfStreams: 100,000 watches take no larger class of the allocator, which puts a header of
// 8 bytes before values of this size.
func TestSizeOfStreams(t *testing.T) {
	if size := unsafe.Sizeof(Stream{}); size > 768-8 {
		t.Errorf("a stream has %d bytes", size)
	}
}
