package watch

import (
	"context"
	"errors"
	"hash/maphash"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/wire/status"
)

const (
	// tick is how often stuck streams are looked for.
	tick = 5 * time.Second
	// stuckTicks is for how long one event may wait for its client to take it.
	stuckTicks = 6
)

// errDrained ends streams when the server stops, and refuses new ones. Clients go on elsewhere from the version that they have.
var errDrained error = status.NewWatchLater("the server is shutting down")

// errStuck ends streams whose client takes nothing.
var errStuck = errors.New("the client takes nothing")

// Streams are all watch streams of a server.
type Streams struct {
	max       int
	metrics   *metrics
	ticks     atomic.Int64
	shared    shared
	carriages carriages

	mu       sync.Mutex
	open     map[*Stream]struct{}
	draining bool
	ended    chan struct{} // closed when draining and nothing is open
}

// New returns the streams of a server, at most so many at a time.
func New(limit int, reg prometheus.Registerer) *Streams {
	s := &Streams{max: limit, open: make(map[*Stream]struct{}), ended: make(chan struct{})}
	s.ticks.Store(1) // 0 means that a stream is not writing
	s.carriages.open = make(map[route]*carriage)
	s.metrics = newMetrics(reg, s)
	s.shared.seed, s.shared.metrics = maphash.MakeSeed(), &s.metrics.shared
	return s
}

// Run cuts off clients that take nothing, until ctx ends.
func (s *Streams) Run(ctx context.Context) error {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			s.cutStuck(s.ticks.Add(1))
		}
	}
}

// cutStuck breaks the connection of streams that have been writing one event for too long. The lock keeps their handlers
// from returning meanwhile: a response controller is good until then only.
func (s *Streams) cutStuck(now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for stream := range s.open {
		since := stream.writing.Load()
		if since == 0 || now-since < stuckTicks {
			continue
		}
		if stream.lender != nil && !stream.lender.Lent() {
			stream.writing.CompareAndSwap(since, 0) // nobody but us has looked whether it was taken
			continue
		}
		s.metrics.cut.Inc()
		// The writer fails, and the handler returns. An error here means that it is gone already.
		_ = http.NewResponseController(stream.w).SetWriteDeadline(time.Now().Add(-time.Second))
		stream.cancel(errStuck) // for one that rides, and writes nothing
	}
}

// Drain ends all streams cleanly and waits for them, until ctx ends. New ones are refused from now on.
func (s *Streams) Drain(ctx context.Context) error {
	s.mu.Lock()
	if !s.draining {
		s.draining = true
		for stream := range s.open {
			stream.cancel(errDrained)
		}
		if len(s.open) == 0 {
			close(s.ended)
		}
	}
	s.mu.Unlock()
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Open returns the number of streams.
func (s *Streams) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

func (s *Streams) add(stream *Stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.draining:
		return errDrained
	case len(s.open) >= s.max:
		s.metrics.refused.Inc()
		return status.NewTooManyRequests()
	}
	s.open[stream] = struct{}{}
	return nil
}

func (s *Streams) remove(stream *Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, stream)
	if s.draining && len(s.open) == 0 {
		close(s.ended)
	}
}
