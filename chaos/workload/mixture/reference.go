package mixture

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"unique"

	"quorate/chaos/check/watchmodel"
	"quorate/chaos/client"
)

// reference watches all objects of a resource, without a selector, on a connection without judged
// watches. Each reference prefers a different node.
type reference struct {
	*Mixture
	log    *changes
	number int
	rand   *rand.Rand

	mu    sync.Mutex
	ended []watchmodel.Reference // guarded by mu: those whose position had expired
	now   watchmodel.Reference   // guarded by mu
}

func newReference(m *Mixture, log *changes, number int) *reference {
	return &reference{
		Mixture: m, log: log, number: number, rand: m.random(uint64(10 + number)),
		now: watchmodel.Reference{Watcher: number, After: log.base, Reached: log.base},
	}
}

// run watches until ctx is done. A node that refuses its position as too old may have begun from a
// snapshot; others still have the changes, so the reference goes on there. If all nodes refuse the
// position, it lists and begins a new watch.
func (r *reference) run(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; {
		if nodes := r.connections.all(); len(nodes) > 0 {
			n := nodes[(r.number+failures)%len(nodes)]
			err := r.stream(ctx, n)
			switch {
			case errors.Is(err, client.ErrExpired):
				r.refuse(n)
				if r.refusedBy(nodes) {
					r.restart(ctx)
				}
			case errors.Is(err, client.ErrRefused):
				r.problem("reference watch of %s on %s: %v", r.log.kind.resource, n.Name, err)
			}
			if err != nil {
				failures++
			}
		}
		wait(ctx, retryPause)
	}
}

func (r *reference) stream(ctx context.Context, n *node) error {
	plain := shape{kind: r.log.kind, version: r.log.kind.versions[0], bookmarks: true}
	r.mu.Lock()
	r.now.Nodes = append(r.now.Nodes, n.Name)
	r.mu.Unlock()
	return n.own.Stream(ctx, client.Request{Path: plain.path(r.position(), false, 0)}, func(int) {}, r.take)
}

func (r *reference) take(n client.Notice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.Reached = n.Object.Version
	if n.Type != watchmodel.Bookmark {
		r.now.Events = append(r.now.Events, watchmodel.Event{Type: n.Type, Object: unique.Make(objectOf(&n.Object)), Arrived: r.Now()})
	}
}

func (r *reference) position() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now.Reached
}

// refuse records that the node refused the position as too old, once.
func (r *reference) refuse(n *node) {
	if r.refusedBy([]*node{n}) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.Refusals = append(r.now.Refusals, watchmodel.Refusal{Node: n.Name, Position: r.now.Reached, At: r.Now()})
}

// refusedBy reports whether all the nodes have refused the position.
func (r *reference) refusedBy(nodes []*node) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !slices.ContainsFunc(nodes, func(n *node) bool {
		return !slices.ContainsFunc(r.now.Refusals, func(f watchmodel.Refusal) bool {
			return f.Node == n.Name && f.Position == r.now.Reached
		})
	})
}

// restart lists and begins a new watch.
func (r *reference) restart(ctx context.Context) {
	version, err := r.version(ctx, r.log.kind, "", "")
	if err != nil {
		return // ctx is done
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.Ended = true
	r.ended = append(r.ended, r.now)
	r.now = watchmodel.Reference{Watcher: r.number, After: version, Reached: version}
}

// told returns the events that the reference has received so far.
func (r *reference) told() []watchmodel.Reference {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(r.ended[:len(r.ended):len(r.ended)], r.now)
}
