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

	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/budget"
	"quorate/apiserver/wire/status"
)

const (
	// tick is the interval between two searches for stuck streams.
	tick = 5 * time.Second
	// stuckTicks is how many ticks the client may take to read one event.
	stuckTicks = 6
)

// errDrained ends streams and refuses new ones while the server stops. Clients continue on another
// node from the version that they have.
var errDrained error = status.NewWatchLater("the server is shutting down")

// errIncomplete ends streams whose timeout expires before they have sent their initial objects.
var errIncomplete error = status.NewWatchLater("the timeout of the watch expired before its initial objects were sent")

// errWithdrawn ends streams whose credential is no longer valid, cleanly.
var errWithdrawn = errors.New("the credential was withdrawn")

// errStuck ends streams whose client reads nothing.
var errStuck = errors.New("the client takes nothing")

// Streams serves all watch streams of a server.
type Streams struct {
	admit   func(Sender) (budget.Holding, error)
	metrics *metrics
	ticks   atomic.Int64
	cache   encodingCache
	fanouts fanouts

	began time.Time

	mu       sync.Mutex
	open     byExpiry
	expiry   *time.Timer // runs expire, when the first of open expires or earlier; nil at first
	draining bool
	ended    chan struct{} // closed when draining and no stream is open
}

// Sender is who sent the request of a stream.
type Sender struct {
	User    *auth.User
	Address string // remote address, HOST:PORT
}

// New returns Streams with their metrics registered. Streams calls admit for each stream; an error
// refuses the stream, and the holding is released when it ends.
func New(admit func(Sender) (budget.Holding, error), reg prometheus.Registerer) *Streams {
	s := &Streams{admit: admit, began: time.Now(), ended: make(chan struct{})}
	s.ticks.Store(1) // 0 means that a stream is not writing
	s.fanouts.open = make(map[fanoutKey]*fanout)
	s.metrics = newMetrics(reg, s)
	s.cache.seed, s.cache.metrics = maphash.MakeSeed(), &s.metrics.cache
	return s
}

// Run cuts off streams whose client reads nothing, until ctx ends. It returns nil.
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

// cutStuck ends the streams whose client has not read an event for stuckTicks, and fails their
// writes. It holds the lock so that no stream ends meanwhile, after which the response
// controller must not be used.
func (s *Streams) cutStuck(now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stream := range s.open {
		since := stream.writing.Load()
		if since == 0 || now-since < stuckTicks {
			continue
		}
		if stream.enqueuer != nil && !stream.enqueuer.Pending() {
			// Whoever enqueues a batch does not wait until the client has read it, so this is the
			// only place that notes it.
			stream.writing.CompareAndSwap(since, 0)
			continue
		}
		s.metrics.cut.Inc()
		// A write that blocks fails, and the handler returns. An error means that the connection is
		// closed already.
		_ = http.NewResponseController(stream.w).SetWriteDeadline(time.Now().Add(-time.Second))
		stream.ctx.Cancel(errStuck) // for a parked stream
	}
}

// Drain ends all streams cleanly, refuses new ones, and waits until the last stream has ended. If
// ctx ends first, Drain returns its error.
func (s *Streams) Drain(ctx context.Context) error {
	s.mu.Lock()
	if !s.draining {
		s.draining = true
		for _, stream := range s.open {
			stream.ctx.Cancel(errDrained)
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

// Open returns the number of open streams.
func (s *Streams) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// add registers a stream. It returns the Status to refuse the request with if the server is
// draining or a bound is reached.
func (s *Streams) add(stream *Stream, opts *Options) error {
	held, err := s.admit(opts.Sender)
	if err != nil {
		s.metrics.refused.Inc()
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		held.Release()
		return errDrained
	}
	stream.held = held
	s.insert(stream, opts.validFor())
	return nil
}

// remove unregisters a stream.
func (s *Streams) remove(stream *Stream) {
	stream.held.Release()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extract(stream)
	if s.draining && len(s.open) == 0 {
		close(s.ended)
	}
}
