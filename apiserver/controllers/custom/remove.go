package custom

import (
	"context"
	"errors"
	"iter"
	"time"

	"golang.org/x/sync/errgroup"

	"quorate/raftstore"
	"quorate/raftstore/state"
)

const (
	// sweepEvery is the interval at which the leader looks for late instances, written through a
	// node that did not yet know of the deletion of their definition.
	sweepEvery = 5 * time.Second
	// parallel is the number of concurrent deletes. They share disk writes.
	parallel = 64
)

// remove removes the instances of deleted definitions (K13) while this node leads. The work
// follows from the state alone, so that the next leader continues where the last one stopped.
func (s *Served) remove(ctx context.Context) error {
	return s.reconcile(ctx, s.factory.prefixes[0], func(root *state.Root) (time.Duration, error) {
		return sweepEvery, s.sweep(ctx, root)
	})
}

// reconcile calls fn with the current state, and with a newer one after each change of an object
// under a prefix and at the latest after the time that fn returned. It returns when ctx ends or fn
// fails.
func (s *Served) reconcile(ctx context.Context, p state.Prefix, fn func(*state.Root) (time.Duration, error)) error {
	root, err := s.store.View(ctx, raftstore.Cached())
	if err != nil {
		return err
	}
	changes, err := s.store.Watch(p, root.Index())
	if err != nil {
		return err
	}
	for {
		pause, err := fn(root)
		if err != nil {
			return err
		}
		wait, cancel := context.WithTimeout(ctx, pause)
		_, err = changes.Next(wait)
		cancel()
		if err != nil && wait.Err() == nil {
			return err
		}
		if root, err = s.store.View(ctx, raftstore.Cached()); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// sweep removes all orphaned instances in a state. Few are added afterwards, by late writes.
func (s *Served) sweep(ctx context.Context, root *state.Root) error {
	writes, ctx := errgroup.WithContext(ctx)
	writes.SetLimit(parallel)
	if err := s.Refresh(ctx, root); err != nil {
		return err
	}
	for resource := range orphaned(root, s.factory.prefixes, s.current.Load().inherited()) {
		root.Ascend(state.ResourcePrefix(resource), "", func(o *state.Object) bool {
			writes.Go(func() error { return s.removeOne(ctx, o) })
			return ctx.Err() == nil
		})
	}
	return writes.Wait()
}

// removeOne deletes an orphaned instance regardless of its finalizers, because no client could
// remove them.
func (s *Served) removeOne(ctx context.Context, o *state.Object) error {
	for {
		_, err := s.store.Delete(ctx, raftstore.Delete{Key: o.Key, Previous: o, UID: o.UID})
		if err == nil {
			s.metrics.removed.Inc()
			return nil
		}
		_, gone := errors.AsType[*state.NotFound](err)
		_, recreated := errors.AsType[*state.UIDMismatch](err)
		if gone || recreated {
			return nil
		}
		moved, conflict := errors.AsType[*state.Conflict](err)
		if !conflict {
			return err
		}
		root, err := s.store.View(ctx, raftstore.AtLeast(moved.Have))
		if err != nil {
			return err
		}
		if o = root.Get(o.Key); o == nil {
			return nil
		}
	}
}

// orphaned yields the resources of instances whose definition is not in the state, and that no other
// definition has inherited. Because uids are never reused, and only an existing definition can be
// inherited from, this holds for any newer state as well. owners are the uids of the definitions
// inherited from, in this state or a newer one; orphaned adds those in the state.
func orphaned(root *state.Root, definitions prefixes, owners map[string]bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		definitions.each(root, func(o *state.Object) bool {
			owners[o.UID] = true
			return true
		})
		for resource := range resources(root) {
			if uid, dynamic := ownerOf(resource); dynamic && !owners[uid] && !yield(resource) {
				return
			}
		}
	}
}

// resources yields the resources that have objects. Each takes one seek.
func resources(root *state.Root) iter.Seq[string] {
	return func(yield func(string) bool) {
		after := state.Key("")
		for {
			next := ""
			root.Ascend("", after, func(o *state.Object) bool {
				next = o.Key.Resource()
				return false
			})
			if next == "" || !yield(next) {
				return
			}
			after = state.Key(next + "\x01") // after all keys of the resource, in which a zero byte follows it
		}
	}
}
