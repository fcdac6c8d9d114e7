package fairness

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// ErrBusy refuses a request: its queue is full, or it has waited for as long as it may.
var ErrBusy = errors.New("too many requests")

// ErrClosed refuses a request that would have to wait while the node shuts down.
var ErrClosed = errors.New("the server is shutting down")

// Config holds the settings of a Dispatcher.
type Config struct {
	// Seats is the number of seats that the levels divide.
	Seats int
	// Levels are in the order in which requests are matched; nil means DefaultLevels.
	Levels []Level
	// Adjuster bounds the seats by the load of the processors; nil for no such bound.
	Adjuster   *Adjuster
	Registerer prometheus.Registerer
}

// Dispatcher grants seats to requests. It is safe for concurrent use.
type Dispatcher struct {
	seed     maphash.Seed // secret, so that nobody can choose a user name that shares all queues with another
	seats    int
	adjuster *Adjuster
	metrics  *metrics
	register prometheus.Registerer
	levels   atomic.Pointer[[]*level] // never changed once stored

	mu     sync.Mutex // serializes Replace and Close
	former []*level   // levels that were replaced and may have requests; guarded by mu
	closed bool       // guarded by mu
}

// New returns a dispatcher with its metrics registered. Each level gets at least one seat.
func New(cfg Config) (*Dispatcher, error) {
	if cfg.Levels == nil {
		cfg.Levels = DefaultLevels()
	}
	if cfg.Seats < 1 {
		return nil, fmt.Errorf("priority levels: %d seats: want at least 1", cfg.Seats)
	}
	d := &Dispatcher{seed: maphash.MakeSeed(), seats: cfg.Seats, adjuster: cfg.Adjuster, register: cfg.Registerer}
	if d.adjuster != nil {
		d.seed = d.adjuster.seed
	}
	if err := validate(cfg.Levels); err != nil {
		return nil, fmt.Errorf("priority levels: %w", err)
	}
	d.metrics = newMetrics(cfg.Registerer)
	d.levels.Store(new([]*level))
	return d, d.Replace(cfg.Levels)
}

// Replace divides the seats among other levels. Requests that have seats, or wait, keep their
// places in the former levels: as long as they take, up to twice as many seats are in use.
func (d *Dispatcher) Replace(levels []Level) error {
	if err := validate(levels); err != nil {
		return fmt.Errorf("priority levels: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	replaced := *d.levels.Load()
	for _, l := range replaced {
		for _, gauge := range l.gauges {
			d.register.Unregister(gauge)
		}
	}
	d.former = slices.DeleteFunc(append(d.former, replaced...), (*level).idle)
	next := make([]*level, 0, len(levels))
	for i, seats := range divide(d.seats, levels) {
		l := newLevel(levels[i], seats, d.adjuster, d.metrics)
		l.closed = d.closed
		d.metrics.watch(d.register, l)
		next = append(next, l)
	}
	d.levels.Store(&next)
	return nil
}

// divide divides seats by the shares of levels. The last level gets the remainder.
func divide(seats int, levels []Level) []int {
	sum := 0
	for i := range levels {
		sum += levels[i].Share
	}
	of, left := make([]int, len(levels)), seats
	for i := range levels {
		of[i] = max(1, seats*levels[i].Share/sum)
		left -= of[i]
	}
	of[len(of)-1] += max(0, left)
	return of
}

// costly is the number of requests of the greatest cost, for each processor, that a level serves at
// a time: enough to keep all processors busy while some wait.
const costly = 4

// maxCost returns the greatest cost of a request in a level with these seats. The level can serve
// costly of such requests for each processor at a time, if it has that many seats. Since mayTake
// does not restrict the first request of a queue, the greatest cost is also limited such that the
// first requests of all handSize queues of a flow leave seats for others.
func maxCost(seats, processors int) int {
	return max(1, min(seats/(costly*processors), seats/(handSize+1)))
}

// Enter takes seats for a request, and waits for them if necessary, at most for its level's
// MaxWait. s must be new or released by Leave, and belongs to the request. The error is ErrBusy,
// ErrClosed or ctx's error; the request then holds nothing.
func (d *Dispatcher) Enter(ctx context.Context, r *Request, s *Seat) error {
	flow := maphash.String(d.seed, r.flow())
	d.adjuster.observe(flow)
	return d.level(r).enter(ctx, flow, r.Cost, s)
}

// level returns the first level that matches a request.
func (d *Dispatcher) level(r *Request) *level {
	levels := *d.levels.Load()
	last := len(levels) - 1
	for _, l := range levels[:last] {
		if l.config.matches(r) {
			return l
		}
	}
	return levels[last]
}

// Close refuses the requests that wait and those that will have to. Requests with seats go on.
func (d *Dispatcher) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, l := range append(d.former, *d.levels.Load()...) {
		l.close()
	}
}

// InUse returns the number of seats in use, those of levels that were replaced left out.
func (d *Dispatcher) InUse() int {
	n := 0
	for _, l := range *d.levels.Load() {
		inUse, _ := l.load()
		n += inUse
	}
	return n
}
