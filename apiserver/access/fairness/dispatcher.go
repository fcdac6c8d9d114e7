package fairness

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"

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
	Levels     []Level
	Registerer prometheus.Registerer
}

// Dispatcher grants seats to requests. It is safe for concurrent use.
type Dispatcher struct {
	seed   maphash.Seed // secret, so that nobody can choose a user name that shares all queues with another
	levels []*level
}

// New returns a dispatcher with its metrics registered. Each level gets at least one seat.
func New(cfg Config) (*Dispatcher, error) {
	if cfg.Levels == nil {
		cfg.Levels = DefaultLevels()
	}
	if err := validate(cfg.Levels); err != nil {
		return nil, fmt.Errorf("priority levels: %w", err)
	}
	if cfg.Seats < 1 {
		return nil, fmt.Errorf("priority levels: %d seats: want at least 1", cfg.Seats)
	}
	d := &Dispatcher{seed: maphash.MakeSeed()}
	m := newMetrics(cfg.Registerer)
	for i, seats := range divide(cfg.Seats, cfg.Levels) {
		l := newLevel(cfg.Levels[i], seats, m)
		m.watch(cfg.Registerer, l)
		d.levels = append(d.levels, l)
	}
	return d, nil
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

// maxCost returns the greatest cost of a request in a level, by the number of its seats and of
// processors. The first requests of all queues of one flow must leave seats of that number free,
// because the threshold of queues does not apply to them.
func maxCost(seats, processors int) int {
	return max(1, min(seats/(costly*processors), seats/(handSize+1)))
}

// Enter takes seats for a request, and waits for them if necessary. Seat must be new or have been
// released by Leave; it belongs to the request. The error is ErrBusy, ErrClosed or ctx's error; the
// request then holds nothing.
func (d *Dispatcher) Enter(ctx context.Context, r *Request, s *Seat) error {
	return d.level(r).enter(ctx, maphash.String(d.seed, r.flow()), r.Cost, s)
}

// level returns the first level that matches a request.
func (d *Dispatcher) level(r *Request) *level {
	last := len(d.levels) - 1
	for _, l := range d.levels[:last] {
		if l.config.matches(r) {
			return l
		}
	}
	return d.levels[last]
}

// Close refuses the requests that wait and those that will have to. Requests with seats go on.
func (d *Dispatcher) Close() {
	for _, l := range d.levels {
		l.close()
	}
}

// InUse returns the number of seats in use.
func (d *Dispatcher) InUse() int {
	n := 0
	for _, l := range d.levels {
		inUse, _ := l.load()
		n += inUse
	}
	return n
}
