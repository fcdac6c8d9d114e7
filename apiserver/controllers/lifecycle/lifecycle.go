package lifecycle

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"quorate/apiserver/controllers/background"
	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

const (
	// lookPause is the interval at which a task polls a condition that it cannot watch.
	lookPause = time.Second
	// parallel is the number of concurrent writes of a task. They share disk writes.
	parallel = 64
)

// Store is the part of the replicated store that the tasks use.
type Store interface {
	deletion.Store
	View(ctx context.Context, r raftstore.Read) (*state.Root, error)
	Create(ctx context.Context, c raftstore.Create) (*state.Object, error)
	Watch(p state.Prefix, after uint64) (*history.Cursor, error)
	WhileLeader(ctx context.Context, fn func(ctx context.Context) error) error
}

// Config configures the background work.
type Config struct {
	Store Store
	// Catalog contains the kinds that have files.
	Catalog *schema.Catalog
	// CatalogOf returns the kinds of a state or of a newer one, because kinds are added and removed
	// at run time.
	CatalogOf func(ctx context.Context, root *state.Root) (*schema.Catalog, error)
	// EventTTL is the time to live, after the last write, of objects of kinds that expire. 0 means
	// that of the kind's file (M17).
	EventTTL   time.Duration
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Lifecycle runs the background work of a node.
type Lifecycle struct {
	store      Store
	catalog    *schema.Catalog
	catalogOf  func(ctx context.Context, root *state.Root) (*schema.Catalog, error)
	eventTTL   time.Duration
	namespaces *schema.Kind
	log        *slog.Logger
	metrics    *metrics
}

// New returns the background work. Run starts it.
func New(cfg Config) (*Lifecycle, error) {
	l := &Lifecycle{
		store:      cfg.Store,
		catalog:    cfg.Catalog,
		catalogOf:  cfg.CatalogOf,
		eventTTL:   cfg.EventTTL,
		namespaces: cfg.Catalog.Stored(stored.Namespaces),
		log:        cfg.Logger.With("component", "lifecycle"),
		metrics:    newMetrics(cfg.Registerer),
	}
	if l.namespaces == nil {
		return nil, errors.New("lifecycle: the catalog has no namespaces")
	}
	return l, nil
}

// Run does the background work whenever this node leads, until ctx ends.
func (l *Lifecycle) Run(ctx context.Context) error { return l.store.WhileLeader(ctx, l.lead) }

// lead runs all tasks until ctx ends. It restarts a task that fails.
func (l *Lifecycle) lead(ctx context.Context) error {
	var tasks errgroup.Group
	task := func(name string, run func(ctx context.Context) error) {
		tasks.Go(func() error {
			background.Tasks{Log: l.log, Errors: l.metrics.errors}.Persist(ctx, name, run)
			return nil
		})
	}
	task("bootstrap", l.bootstrap)
	task("namespaces", l.emptyNamespaces)
	for _, k := range kinds(l.catalog, graceful) {
		task("expire "+k.Plural, func(ctx context.Context) error { return l.expire(ctx, k) })
	}
	for _, k := range kinds(l.catalog, expires) {
		task("expire by age "+k.Plural, func(ctx context.Context) error { return l.expireByAge(ctx, k) })
	}
	return tasks.Wait()
}

// kinds returns the stored kinds of a catalog for which has returns true.
func kinds(catalog *schema.Catalog, has func(k *schema.Kind) bool) []*schema.Kind {
	var found []*schema.Kind
	for _, k := range catalog.Kinds() {
		if k.Storage() == k && has(k) {
			found = append(found, k)
		}
	}
	return found
}

func namespaced(k *schema.Kind) bool { return k.Namespaced }

// graceful reports whether a kind has grace periods. Only kinds with a file do, so the set of these
// kinds is constant.
func graceful(k *schema.Kind) bool { return k.Strategy.DefaultGracePeriod > 0 }

// expires reports whether objects of a kind expire. Only those of kinds with a file do, so the set
// of these kinds is constant.
func expires(k *schema.Kind) bool { return k.Strategy.TTLSeconds > 0 }

// bootstrap creates the namespaces that every cluster has (M4).
func (l *Lifecycle) bootstrap(ctx context.Context) error {
	for _, name := range []string{deletion.DefaultNamespace, deletion.SystemNamespace, deletion.PublicNamespace} {
		root, err := l.store.View(ctx, raftstore.Cached())
		if err != nil {
			return err
		}
		key := stored.NamespaceKey(name)
		if root.Get(key) != nil {
			continue
		}
		o := l.namespaces.New()
		o.SetName(name)
		stored.Begin(o, time.Now())
		if errs := l.namespaces.ValidateCreate(o); len(errs) > 0 {
			return errs.ToAggregate()
		}
		l.namespaces.Canonicalize(schema.Create, o, nil)
		object, _ := stored.Encode(o)
		_, err = l.store.Create(ctx, raftstore.Create{Key: key, Object: object})
		if _, exists := errors.AsType[*state.Exists](err); err != nil && !exists {
			return err
		}
	}
	return nil
}
