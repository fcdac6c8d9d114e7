package watch

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"quorate/apiserver/access/budget"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/status"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// deaf is a client that reads nothing: writes block until their deadline lies in the past.
type deaf struct {
	header http.Header
	cut    chan struct{}
	once   sync.Once
}

func (d *deaf) Header() http.Header { return d.header }
func (d *deaf) WriteHeader(int)     {}
func (d *deaf) FlushError() error   { return nil }
func (d *deaf) Write([]byte) (int, error) {
	<-d.cut
	return 0, errors.New("deadline exceeded")
}

func (d *deaf) SetWriteDeadline(t time.Time) error {
	if t.Before(time.Now()) {
		d.once.Do(func() { close(d.cut) })
	}
	return nil
}

// TestStuckStreamIsCut: the stream of a client that reads nothing ends (D38).
func TestStuckStreamIsCut(t *testing.T) {
	t.Parallel()
	hub, err := history.New(history.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Close()
	s := New(atMost(10), prometheus.NewRegistry())
	d := &deaf{header: http.Header{}, cut: make(chan struct{})}
	served := make(chan error, 1)
	go func() {
		served <- s.serve(t.Context(), d, Options{
			Projection: Projection{Kind: &schema.Kind{}}, Timeout: time.Hour,
			Header: func() error { return nil },
			Start: func(context.Context) (Start, error) {
				one := func(yield func(*state.Object, error) bool) {
					yield(&state.Object{Key: state.NewKey("pods", "a", "p"), Value: []byte("{}")}, nil)
				}
				return Start{Initial: one, Changes: hub.Watch(state.ResourcePrefix("pods"), 0)}, nil
			},
			Faults: faults(func(error) {}),
		})
	}()
	for !writing(s) {
		runtime.Gosched()
	}
	s.cutStuck(stuckTicks) // one tick too early
	select {
	case <-d.cut:
		t.Fatal("cut too early")
	default:
	}
	s.cutStuck(1 + stuckTicks)
	if err := <-served; err != nil {
		t.Error(err)
	}
	if n := s.Open(); n != 0 {
		t.Errorf("%d streams left", n)
	}
}

// writing reports whether some stream is in a write.
func writing(s *Streams) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stream := range s.open {
		if stream.writing.Load() != 0 {
			return true
		}
	}
	return false
}

func TestDrainRefusesNewStreams(t *testing.T) {
	t.Parallel()
	s := New(atMost(10), prometheus.NewRegistry())
	if err := s.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := s.serve(t.Context(), &deaf{}, Options{Timeout: time.Hour})
	if refused, ok := errors.AsType[*status.Error](err); !ok || refused.Status.Code != 429 || refused.Status.Details.RetryAfterSeconds != 1 {
		t.Errorf("a stream while draining: %v", err)
	}
}

// atMost admits so many streams at a time.
func atMost(n int64) func(Sender) (budget.Holding, error) {
	pool := budget.New(budget.Config{Total: n})
	return func(Sender) (budget.Holding, error) {
		held := pool.Hold("", "")
		if _, ok := held.Take(1); !ok {
			return held, status.NewTooManyRequests()
		}
		return held, nil
	}
}
