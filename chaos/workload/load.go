package workload

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

// Config configures the clients of a load.
type Config struct {
	Namespace string // made if it isn't there; nobody else may write below it
	Targets   *Targets
	Recorder  *history.Recorder
	Seed      uint64
	// Clients is the number of clients that create, get, replace and delete objects; several of
	// them use the same keys. Keys is the number of keys in use at a time; 0 means half as many as
	// clients. When the history of a key has grown long, a new key replaces it.
	Clients, Keys int
	Listers       int // list all keys by quorum
	Pagers        int // list all keys in pages, each from any node
	CachedReaders int // get and list from the nodes' own states
	Watchers      int // follow all changes
	// Rate is the number of requests per second of all clients together, except streams of
	// watchers; 0 means no limit.
	Rate float64
	Log  *slog.Logger
}

const (
	// prepareTimeout bounds the creation of the namespace.
	prepareTimeout = time.Minute
	// burstSeconds bounds the time for which requests that were not made while the cluster hung are
	// made up for.
	burstSeconds = 0.1
	// fillers is the number of keys that are created concurrently.
	fillers = 64
)

// Load is a set of running clients. Callers call Start (or Prepare, Fill, Begin), Stop, Settle,
// Finals and Record, in this order; they may call Close at any time.
type Load struct {
	Config
	start, end uint64 // the versions before the first write and of the last one
	limiter    *rate.Limiter
	numbers    atomic.Int64 // of clients
	slots      []*slot
	watching   []*watcher
	finals     []history.Final
	sums       client.Checksums

	stop, stopWatch   context.CancelFunc
	workers, watchers sync.WaitGroup
}

// Start is Prepare and Begin.
func Start(ctx context.Context, c Config) (*Load, error) {
	l, err := Prepare(ctx, c)
	if err != nil {
		return nil, err
	}
	l.Begin(ctx)
	return l, nil
}

// Prepare creates the namespace and returns a load whose clients have not begun.
func Prepare(ctx context.Context, c Config) (*Load, error) {
	if c.Keys == 0 {
		c.Keys = max(1, c.Clients/2)
	}
	limit, burst := rate.Inf, 1
	if c.Rate > 0 {
		limit, burst = rate.Limit(c.Rate), max(1, int(c.Rate*burstSeconds))
	}
	l := &Load{Config: c, limiter: rate.NewLimiter(limit, burst), stop: func() {}, stopWatch: func() {}}
	for i := range c.Keys {
		l.slots = append(l.slots, &slot{index: i})
	}
	if err := l.prepare(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// prepare creates the namespace and records where its history begins.
func (l *Load) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	w := l.worker()
	err := w.insist(ctx, func(ctx context.Context, node Target) error {
		outcome, err := node.Client.EnsureNamespace(ctx, l.Namespace)
		return unless(outcome, err)
	})
	if err != nil {
		return fmt.Errorf("create namespace %s: %w", l.Namespace, err)
	}
	var first client.Page
	err = w.insist(ctx, func(ctx context.Context, node Target) error {
		page, outcome, err := node.Client.Page(ctx, l.Namespace, "limit=1")
		first = page
		return unless(outcome, err)
	})
	if err != nil {
		return fmt.Errorf("list namespace %s: %w", l.Namespace, err)
	}
	if len(first.Objects) > 0 {
		return fmt.Errorf("namespace %s has objects already: nobody can say what may happen to them", l.Namespace)
	}
	l.start = first.Version
	return nil
}

// Fill creates all keys as fast as the cluster accepts them. An error means that ctx ended before.
func (l *Load) Fill(ctx context.Context) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range fillers {
		group.Go(func() error {
			for i := int(next.Add(1)) - 1; i < len(l.slots); i = int(next.Add(1)) - 1 {
				if _, err := l.create(ctx, func(int) string { return l.slots[i].take() }); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// Begin starts the clients. They end with ctx, with Close or with Record.
func (l *Load) Begin(ctx context.Context) {
	working, stop := context.WithCancel(ctx)
	watching, stopWatch := context.WithCancel(ctx)
	l.stop, l.stopWatch = stop, stopWatch
	l.watch(watching)
	l.work(working)
}

func (l *Load) watch(ctx context.Context) {
	for i := range l.Watchers {
		w := &watcher{worker: l.worker(), habit: habit(i % habits)}
		l.watching = append(l.watching, w)
		l.watchers.Go(func() { w.run(ctx) })
	}
}

func (l *Load) work(ctx context.Context) {
	for i := range l.Clients {
		r := &register{worker: l.worker(), beliefs: l.beliefs(i)}
		l.begin(ctx, &r.worker, r.step)
	}
	for range l.Listers {
		r := &lister{l.worker()}
		l.begin(ctx, &r.worker, r.step)
	}
	for range l.Pagers {
		p := &pager{l.worker()}
		l.begin(ctx, &p.worker, p.step)
	}
	for range l.CachedReaders {
		r := &cachedReader{worker: l.worker(), numbers: map[*client.Client]int{}}
		l.begin(ctx, &r.worker, r.step)
	}
}

func (l *Load) begin(ctx context.Context, w *worker, step func(ctx context.Context) bool) {
	l.workers.Go(func() { w.loop(ctx, step) })
}

// worker returns what a new client begins with.
func (l *Load) worker() worker {
	number := l.number()
	return worker{Load: l, number: number, rand: rand.New(rand.NewPCG(l.Seed, uint64(number)))}
}

// number returns the number of a new client.
func (l *Load) number() int { return int(l.numbers.Add(1)) }

// Stop ends all clients except watchers, and returns when each has received the response to its
// last request or has given up.
func (l *Load) Stop() {
	l.stop()
	l.workers.Wait()
}

// Close ends all clients and waits for them.
func (l *Load) Close() {
	l.Stop()
	l.stopWatch()
	l.watchers.Wait()
}

// Record ends all clients and returns what they recorded. The Recorder must not be used afterwards.
func (l *Load) Record() history.Record {
	l.Close()
	record := l.Recorder.Take()
	record.Start, record.End = l.start, l.end
	record.Finals, record.Checksums = l.finals, l.sums
	for _, w := range l.watching {
		record.Watches = append(record.Watches, w.watches()...)
	}
	return record
}
