package garbage

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/controllers/background"
	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

const (
	// pollPause is how long the collector sleeps when nothing happens: then it looks for new kinds,
	// and tries again what failed.
	pollPause = time.Second
	// batch is how many objects are looked at against one confirmed state.
	batch = 256
	// parallel is how many writes are under way: they share disk writes, and leave room for
	// clients' own.
	parallel = 128
)

// Store is what the collector works on.
type Store interface {
	deletion.Store
	View(ctx context.Context, r raftstore.Read) (*state.Root, error)
	Watch(p state.Prefix, after uint64) (*history.Cursor, error)
	WhileLeader(ctx context.Context, fn func(ctx context.Context) error) error
}

// Config of a Collector.
type Config struct {
	Store Store
	// Catalog returns the present kinds, which may come and go.
	Catalog    func() *schema.Catalog
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Collector is the garbage collector of a node.
type Collector struct {
	store   Store
	catalog func() *schema.Catalog
	log     *slog.Logger
	metrics *metrics
}

// New prepares a collector.
func New(cfg Config) *Collector {
	return &Collector{
		store: cfg.Store, catalog: cfg.Catalog,
		log: cfg.Logger.With("component", "garbage"), metrics: newMetrics(cfg.Registerer),
	}
}

// Run collects whenever this node leads, until ctx ends.
func (c *Collector) Run(ctx context.Context) error { return c.store.WhileLeader(ctx, c.lead) }

// lead returns when ctx ends: no error stops it for good.
func (c *Collector) lead(ctx context.Context) error {
	defer c.metrics.clear()
	for {
		err := c.begin().collect(ctx)
		if ctx.Err() != nil {
			return nil
		}
		c.metrics.errors.Inc()
		c.log.Warn("garbage collection failed; it begins anew", "error", err)
		background.Pause(ctx, pollPause)
	}
}

func (c *Collector) begin() *collection {
	return &collection{Collector: c, graph: newGraph(), queue: newQueue(), kinds: newKinds()}
}

// collection is the work of one time as leader, or until an error.
type collection struct {
	*Collector
	graph  *graph
	queue  *queue
	kinds  *kinds
	seen   uint64      // all changes up to it are in the graph
	failed []state.Key // to be looked at again at retryAt
	// retryAt is a pause after the first of them failed.
	retryAt time.Time
}

// collect takes in the state, and then its changes, and looks at what they concern. It returns only
// with an error.
func (c *collection) collect(ctx context.Context) error {
	root, err := c.store.View(ctx, raftstore.Quorum())
	for ; err == nil; root, err = c.wait(ctx) {
		if err := c.follow(ctx, root); err != nil {
			return err
		}
		if err := c.learnKinds(ctx, root); err != nil {
			return err
		}
		if c.queue.len() == 0 {
			continue
		}
		if err := c.workBatch(ctx); err != nil {
			return err
		}
	}
	return err
}

// workBatch looks at some of what is queued. That is taken before the state that it is looked at
// in, which so has all that it was queued for, and everything else that is acknowledged.
func (c *collection) workBatch(ctx context.Context) error {
	keys := c.queue.take(batch)
	root, err := c.store.View(ctx, raftstore.Quorum())
	if err != nil {
		return err
	}
	if err := c.follow(ctx, root); err != nil {
		return err
	}
	c.work(ctx, root, keys)
	c.observe()
	return ctx.Err()
}

// wait returns the state: at once while there is something to look at, else when something has
// changed, or after a pause. What has failed is queued again when its time has come, however much
// there is to look at.
func (c *collection) wait(ctx context.Context) (*state.Root, error) {
	root, err := c.present(ctx)
	if !time.Now().Before(c.retryAt) {
		for _, key := range c.failed {
			c.queue.add(key)
		}
		c.failed = nil
	}
	return root, err
}

func (c *collection) present(ctx context.Context) (*state.Root, error) {
	if c.queue.len() > 0 {
		return c.store.View(ctx, raftstore.Cached())
	}
	waiting, cancel := context.WithTimeout(ctx, pollPause)
	defer cancel()
	root, err := c.store.View(waiting, raftstore.AtLeast(c.seen+1))
	if err != nil && ctx.Err() == nil && waiting.Err() != nil {
		return c.store.View(ctx, raftstore.Cached())
	}
	return root, err
}

// follow takes in all changes up to a state, at least.
func (c *collection) follow(ctx context.Context, root *state.Root) error {
	// A state is there a moment before its events are: wait for them, so that no cursor waits for
	// what does not come.
	if _, err := c.store.View(ctx, raftstore.AtLeast(root.Index())); err != nil {
		return err
	}
	for _, f := range c.kinds.followed {
		for f.changes.Position() < root.Index() {
			events, err := f.changes.Next(ctx)
			if err != nil {
				return err
			}
			for _, event := range events {
				if err := c.note(f.kind, event.Object, event.Type == history.Deleted); err != nil {
					return err
				}
			}
		}
	}
	c.seen = root.Index()
	c.observe()
	return nil
}

// note takes in one object.
func (c *collection) note(k *schema.Kind, o *state.Object, gone bool) error {
	switch {
	case gone:
		c.graph.remove(o.Key, o.UID, c.queue.add)
		return nil
	case !deletion.Collected(k), !mayLink(o) && !c.graph.knows(o.Key):
		return nil
	}
	l, err := readLinks(k, o)
	if err != nil {
		return err
	}
	c.graph.set(o.Key, o.UID, &l, c.queue.add)
	return nil
}

func (c *collection) observe() {
	c.metrics.queue.Set(float64(c.queue.len()))
	c.metrics.dependents.Set(float64(len(c.graph.edges)))
	c.metrics.waiting.Set(float64(len(c.graph.waiting)))
}
