package mixture

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"quorate/chaos/check/watchmodel"
	"quorate/chaos/workload"
)

// Config determines the size of a mixture.
type Config struct {
	Name    string // begins the names of its namespaces; nobody else may write below them
	Targets *workload.Targets
	Seed    uint64
	Watches int     // judged ones
	Rate    float64 // writes a second of all writers together
	// Now is the time since the history began.
	Now func() time.Duration
	Log *slog.Logger
}

const (
	// writers is the number of writers, each with its own objects.
	writers = 24
	// slotsPerWriter is the number of objects of each kind that a writer has at a time.
	slotsPerWriter = 2
	// writesPerRound is the number of writes of a writer in a round, without a pause.
	writesPerRound = 4
	// namespaceCount is the number of namespaces in which the writers write.
	namespaceCount = 4
	// minReferences is the minimum number of references of each resource.
	minReferences = 2
	// maxProblems bounds the samples of responses that no correct server sends.
	maxProblems = 20
)

// Mixture is a set of running watches and writers. Callers call Start, Stop, Settle and Record, in
// this order; they may call Close at any time, and Tidy removes the written objects.
type Mixture struct {
	Config
	kinds       []kind
	favoured    *kind // of most watches and writes
	namespaces  []string
	users       []string // who may read the first namespace, and the second
	connections *connections
	round       time.Duration       // between two rounds of writes
	logs        map[string]*changes // by resource
	watches     []*watcher
	settling    atomic.Bool // watches are to get to the end

	stopWrites, stopWatches context.CancelFunc
	writing, watching       sync.WaitGroup

	mu       sync.Mutex // guards all below
	problems []string   // answers that no correct server gives
	acked    int
}

// changes is the record of one resource.
type changes struct {
	kind       *kind
	base       uint64
	present    []watchmodel.Object
	references []*reference

	mu     sync.Mutex // guards all below
	writes []watchmodel.Write
	newest uint64 // newest version in a response to a writer
	end    uint64
}

// Start creates namespaces and users, and starts writers and watches. The caller must call Close.
func Start(ctx context.Context, c Config) (*Mixture, error) {
	m := &Mixture{
		Config: c, kinds: kinds(), connections: newConnections(c.Targets), logs: map[string]*changes{},
		round:      time.Duration(writers * writesPerRound / c.Rate * float64(time.Second)),
		stopWrites: func() {}, stopWatches: func() {},
	}
	m.favoured = &m.kinds[c.Seed%uint64(len(m.kinds))]
	for i := range namespaceCount {
		m.namespaces = append(m.namespaces, fmt.Sprintf("%s-%c", c.Name, 'a'+i))
	}
	m.users = []string{c.Name + "-reader-a", c.Name + "-reader-b"}
	if err := m.prepare(ctx); err != nil {
		m.connections.close()
		return nil, err
	}
	m.begin(ctx)
	return m, nil
}

func (m *Mixture) begin(ctx context.Context) {
	writing, stopWrites := context.WithCancel(ctx)
	watching, stopWatches := context.WithCancel(ctx)
	m.stopWrites, m.stopWatches = stopWrites, stopWatches
	for _, k := range m.kinds {
		for _, r := range m.logs[k.resource].references {
			m.watching.Go(func() { r.run(watching) })
		}
	}
	shaper := &shaper{Rand: m.random(1), Mixture: m}
	for i := range m.Watches {
		w := &watcher{Mixture: m, number: i + 1, shape: shaper.shape(), rand: m.random(uint64(1000 + i))}
		m.watches = append(m.watches, w)
		m.watching.Go(func() { w.run(watching) })
	}
	began := time.Now()
	for i := range writers {
		w := newWriter(m, i)
		m.writing.Go(func() { w.run(writing, began) })
	}
}

// random returns a source of its own for each stream of choices.
func (m *Mixture) random(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(m.Seed, stream)) }

// nameOf returns the name of an object of a writer. A name is reused after its object is removed,
// unless the outcome of the removal is unknown.
func (m *Mixture) nameOf(writer, slot, generation int) string {
	return fmt.Sprintf("o%d-%d-%d", writer, slot, generation)
}

// problem records a response that no correct server sends.
func (m *Mixture) problem(format string, values ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.problems) < maxProblems {
		m.problems = append(m.problems, fmt.Sprintf(format, values...))
	}
}

// Acknowledged returns the number of writes acknowledged so far.
func (m *Mixture) Acknowledged() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.acked
}

// wrote records a write.
func (m *Mixture) wrote(log *changes, w watchmodel.Write) {
	log.mu.Lock()
	log.writes = append(log.writes, w)
	log.newest = max(log.newest, w.Object.Version)
	log.mu.Unlock()
	if w.Outcome == watchmodel.Acknowledged {
		m.mu.Lock()
		m.acked++
		m.mu.Unlock()
	}
}

// known returns a version of the resource that existed, no older than the base.
func (c *changes) known(r *rand.Rand) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.writes) == 0 {
		return c.base
	}
	return max(c.base, c.writes[r.IntN(len(c.writes))].Object.Version)
}

// Stop ends the writers, and returns when each has received the response to its last request.
func (m *Mixture) Stop() {
	m.stopWrites()
	m.writing.Wait()
}

// Close ends all clients and waits for them.
func (m *Mixture) Close() {
	m.Stop()
	m.stopWatches()
	m.connections.close()
	m.watching.Wait()
}

// Record ends all clients and returns the events that they received, and samples of responses that
// no correct server sends.
func (m *Mixture) Record() (*watchmodel.Record, []string) {
	m.Stop()
	m.stopWatches()
	m.watching.Wait()
	r := &watchmodel.Record{Resources: map[string]*watchmodel.Resource{}}
	for name, log := range m.logs {
		r.Resources[name] = m.resource(log)
	}
	for _, w := range m.watches {
		r.Chains = append(r.Chains, w.chains()...)
	}
	return r, m.problems
}

// resource returns what is known of the changes of a resource by now.
func (m *Mixture) resource(log *changes) *watchmodel.Resource {
	r := &watchmodel.Resource{Base: log.base, Present: log.present, Namespaces: m.namespaces}
	for _, reference := range log.references {
		r.References = append(r.References, reference.told()...)
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	r.Writes, r.End = log.writes, log.end
	return r
}

// wait lets some time pass, unless ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
