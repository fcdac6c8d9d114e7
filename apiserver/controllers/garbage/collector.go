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
	// pollPause is the pause of the collector when no object changes. After it the collector checks
	// for new kinds and retries failed objects.
	pollPause = time.Second
	// followPause is the pause after the changes of a state, if they queued no object. Beside many
	// writes each state has few changes, but takes a look at all kinds.
	followPause = 10 * time.Millisecond
	// batch is the number of objects that are checked against one confirmed state.
	batch = 256
	// parallel is the number of concurrent writes: enough for them to share disk writes, and few
	// enough to leave capacity for clients' writes.
	parallel = 128
)

// Store is the part of the replicated store that the collector uses.
type Store interface {
	deletion.Store
	View(ctx context.Context, r raftstore.Read) (*state.Root, error)
	Watch(p state.Prefix, after uint64) (*history.Cursor, error)
	WhileLeader(ctx context.Context, fn func(ctx context.Context) error) error
}

// Config configures a Collector.
type Config struct {
	Store Store
	// Catalog returns the current kinds, which change at run time.
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

// New returns a collector. Run starts it.
func New(cfg Config) *Collector {
	return &Collector{
		store: cfg.Store, catalog: cfg.Catalog,
		log: cfg.Logger.With("component", "garbage"), metrics: newMetrics(cfg.Registerer),
	}
}

// Run collects garbage whenever this node leads, until ctx ends.
func (c *Collector) Run(ctx context.Context) error { return c.store.WhileLeader(ctx, c.lead) }

// lead collects garbage until ctx ends. After an error it starts again from the state.
func (c *Collector) lead(ctx context.Context) error {
	defer c.metrics.clear()
	for {
		err := c.begin().collect(ctx)
		if ctx.Err() != nil {
			return nil
		}
		c.metrics.errors.Inc()
		c.log.Warn("garbage collection failed and starts again", "error", err)
		background.Pause(ctx, pollPause)
	}
}

func (c *Collector) begin() *collection {
	return &collection{Collector: c, graph: newGraph(), queue: newQueue(), kinds: newKinds()}
}

// collection is the collector's work from becoming leader until leadership or an error ends it.
type collection struct {
	*Collector
	graph  *graph
	queue  *queue
	kinds  *kinds
	seen   uint64      // the graph contains all changes up to this index
	failed []state.Key // keys to check again at retryAt
	// retryAt is set when the first object fails.
	retryAt time.Time
}

// collect reads the state, follows its changes and checks the objects that they affect. It returns
// only with an error.
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

// workBatch takes up to batch objects from the queue and checks them in a confirmed state, which it
// reads afterwards. The state thus contains the changes for which the objects were queued, and all
// writes acknowledged before.
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

// wait returns a state: at once if objects are queued, else after a change or a pause. It queues
// failed objects again when retryAt has passed.
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
	background.Pause(ctx, followPause)
	waiting, cancel := context.WithTimeout(ctx, pollPause)
	defer cancel()
	root, err := c.store.View(waiting, raftstore.AtLeast(c.seen+1))
	if err != nil && ctx.Err() == nil && waiting.Err() != nil {
		return c.store.View(ctx, raftstore.Cached())
	}
	return root, err
}

// follow adds at least all changes up to a state to the graph.
func (c *collection) follow(ctx context.Context, root *state.Root) error {
	// A state is published shortly before its events. Wait for the events, so that no cursor waits
	// for one that does not come.
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

// note adds the change of one object to the graph.
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
