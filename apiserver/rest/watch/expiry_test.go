package watch

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/prometheus/client_golang/prometheus"
)

// TestStreamsExpire opens streams that are valid for different times and ends some of them early:
// each of the others is told to end when its own time is over, neither earlier nor later, and none
// that has ended leaves anything behind.
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

// TestSizeOfStreams: what each of 100,000 watches takes of the heap.
func TestSizeOfStreams(t *testing.T) {
	if size := unsafe.Sizeof(Stream{}); size > 768 {
		t.Errorf("a stream takes %d bytes", size)
	}
}
