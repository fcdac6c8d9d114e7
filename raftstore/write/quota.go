package write

import (
	"context"
	"strings"
	"sync"

	"quorate/raftstore/failure"
	"quorate/raftstore/leadership"
	"quorate/raftstore/state"
)

// Quota bounds what the state holds. The leader enforces its own before it proposes a write, so
// that the log holds no decision that depends on a setting. Zero values are no bounds.
type Quota struct {
	// StateBytes bounds the memory of all objects, by state.Object.Size.
	StateBytes uint64
	// Objects bounds the objects of a resource in one namespace, by resource. AnyResource is for
	// those that are not in it.
	Objects map[string]int
}

// AnyResource stands for all resources that Quota.Objects does not name.
const AnyResource = "*"

// of returns the bound for a resource, 0 for none. GROUP/PLURAL also names GROUP/PLURAL/UID, the
// resource of a kind that is defined at run time.
func (q *Quota) of(resource string) int {
	if limit, ok := q.Objects[withoutUID(resource)]; ok {
		return limit
	}
	return q.Objects[AnyResource]
}

// withoutUID returns a resource without its third part.
func withoutUID(resource string) string {
	if last := strings.LastIndexByte(resource, '/'); last > strings.IndexByte(resource, '/') {
		return resource[:last]
	}
	return resource
}

// quotas counts what the proposals under way add to the state, so that concurrent writes do not
// exceed a quota together.
type quotas struct {
	quota   Quota
	metrics *quotaMetrics

	mu      sync.Mutex
	growth  uint64                                  // of the memory of all objects
	creates map[state.Prefix]map[state.Key]struct{} // in collections with a bound
}

func newQuotas(q Quota, m *quotaMetrics) *quotas {
	return &quotas{quota: q, metrics: m, creates: make(map[state.Prefix]map[state.Key]struct{})}
}

// reservation is what one proposal adds.
type reservation struct {
	growth     uint64
	collection state.Prefix // of a create in a collection with a bound
	key        state.Key
}

// reserve adds a command to the proposals under way. If the command would exceed a quota, reserve
// adds nothing and returns a *failure.QuotaError. A command that is part of a removal reserves
// nothing. root returns the newest state. The caller releases the reservation when the state
// contains the command, or never will.
func (q *quotas) reserve(c *command, root func() *state.Root) (reservation, error) {
	if c.frees {
		return reservation{}, nil
	}
	r := reservation{key: c.Key, collection: q.collection(c)}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := root()
	if q.quota.StateBytes > 0 {
		r.growth = c.growth(now)
		if used := now.Bytes() + q.growth; r.growth > 0 && used+r.growth > q.quota.StateBytes {
			return reservation{}, &failure.QuotaError{Used: now.Bytes(), Limit: q.quota.StateBytes}
		}
	}
	if r.collection != "" {
		if err := q.admit(r.collection, r.key, now); err != nil {
			return reservation{}, err
		}
	}
	q.growth += r.growth
	return r, nil
}

// collection returns the collection with a bound in which a command creates an object, "" for none.
func (q *quotas) collection(c *command) state.Prefix {
	if !c.Creates || len(q.quota.Objects) == 0 {
		return ""
	}
	resource, namespace, _ := c.Key.Split()
	if namespace == "" || q.quota.of(resource) == 0 {
		return ""
	}
	return state.NamespacePrefix(resource, namespace)
}

// admit adds a create to those under way. A create that the state contains already, and that is not
// released yet, counts once. The caller holds q.mu.
func (q *quotas) admit(p state.Prefix, key state.Key, now *state.Root) error {
	resource, namespace, _ := key.Split()
	limit, stored, underWay := q.quota.of(resource), now.Count(p), q.creates[p]
	if stored+len(underWay) >= limit {
		pending := 0
		for k := range underWay {
			if now.Get(k) == nil {
				pending++
			}
		}
		if stored+pending >= limit {
			return &failure.QuotaError{Resource: withoutUID(resource), Namespace: namespace, Used: uint64(stored + pending), Limit: uint64(limit)}
		}
	}
	if underWay == nil {
		underWay = make(map[state.Key]struct{})
		q.creates[p] = underWay
	}
	underWay[key] = struct{}{}
	return nil
}

// release removes a command from the proposals under way.
func (q *quotas) release(r reservation) {
	if r.growth == 0 && r.collection == "" {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.growth -= r.growth
	if underWay := q.creates[r.collection]; underWay != nil {
		if delete(underWay, r.key); len(underWay) == 0 {
			delete(q.creates, r.collection)
		}
	}
}

// growth returns by how many bytes the command makes the state larger, 0 if it does not.
func (c *command) growth(root *state.Root) uint64 {
	before := 0
	if previous := root.Get(c.Key); previous != nil {
		before = previous.Size()
	}
	return uint64(max(c.size-before, 0))
}

// applyWithin proposes the command's entry if no quota forbids it. It calls leave as apply calls
// release.
func (w *Writer) applyWithin(ctx context.Context, e *leadership.Epoch, c *command, leave func()) result {
	if err := awaitReady(ctx, e); err != nil { // until then the state may lack entries of former leaders
		leave()
		return notApplied(err)
	}
	held, err := w.quotas.reserve(c, w.cfg.Root)
	if err != nil {
		// A deposed leader must not refuse from the past.
		if held, err = w.reserveConfirmed(ctx, c); err != nil {
			leave()
			return w.unconfirmed(err)
		}
	}
	return w.apply(ctx, c.data, func() {
		w.quotas.release(held)
		leave()
	})
}

// reserveConfirmed is quotas.reserve on a state that a read index confirms. It counts refusals.
func (w *Writer) reserveConfirmed(ctx context.Context, c *command) (reservation, error) {
	index, err := w.cfg.Reader.Confirm(ctx)
	if err != nil {
		return reservation{}, err
	}
	if err := w.cfg.Reader.Await(ctx, index); err != nil {
		return reservation{}, err
	}
	held, err := w.quotas.reserve(c, w.cfg.Root)
	if err != nil {
		w.quotas.metrics.refused(err)
	}
	return held, err
}

// awaitReady waits until the leader has applied an entry of its term, and so all of earlier ones.
func awaitReady(ctx context.Context, e *leadership.Epoch) error {
	if e.IsReady() {
		return nil
	}
	select {
	case <-e.Ready():
		return nil
	case <-e.Done():
		return failure.ErrNotLeader
	case <-ctx.Done():
		return ctx.Err()
	}
}
