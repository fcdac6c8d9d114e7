package rbac

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"quorate/apiserver/controllers/background"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// Run keeps the index up to date until ctx ends. While this node leads, it creates the built-in
// roles and bindings, and aggregates cluster roles. It must be called once.
func (e *Evaluator) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		f := &follower{evaluator: e}
		e.Answer(ctx, f.advance)
		return nil
	})
	group.Go(func() error {
		e.tasks().Persist(ctx, "load", e.Confirm)
		for _, k := range e.kinds {
			group.Go(func() error {
				e.tasks().Persist(ctx, "follow "+k.Plural, func(ctx context.Context) error { return e.Follow(ctx, stored.Prefix(k, "")) })
				return nil
			})
		}
		return nil
	})
	group.Go(func() error {
		return e.store.WhileLeader(ctx, func(ctx context.Context) error {
			e.tasks().Persist(ctx, "reconcile", e.reconcile)
			e.tasks().Persist(ctx, "aggregate", e.aggregate)
			return nil
		})
	})
	return group.Wait()
}

func (e *Evaluator) tasks() background.Tasks {
	return background.Tasks{Log: e.log, Errors: e.metrics.errors}
}

// follower builds indexes. Only one goroutine uses it.
type follower struct {
	evaluator *Evaluator
	drafts    *drafts // nil if the next index has to be built from a whole state
	followed  []*changes
}

// changes holds the changes of one kind that the index does not contain yet.
type changes struct {
	kind   *schema.Kind
	cursor *history.Cursor
	events []*history.Event // already read, but newer than the index requested so far
}

// advance publishes the index of a state. If it cannot update the index with the changes up to that
// state, for example because history no longer contains them after this node received a snapshot,
// it builds the index from the whole state.
func (f *follower) advance(ctx context.Context, root *state.Root) error {
	follows := f.drafts != nil
	err := f.make(ctx, root)
	if err != nil && follows {
		err = f.make(ctx, root)
	}
	return err
}

// make publishes the index of a state. After an error, the next index is built from a whole state.
func (f *follower) make(ctx context.Context, root *state.Root) (err error) {
	defer func() {
		if err != nil {
			f.drafts = nil
		}
	}()
	e := f.evaluator
	// A state is published shortly before its events. Wait for the events, so that no cursor waits
	// for one that does not come.
	if _, err := e.store.View(ctx, raftstore.AtLeast(root.Index())); err != nil {
		return err
	}
	if f.drafts == nil {
		if err := f.load(root); err != nil {
			return err
		}
	}
	events, err := f.until(ctx, root.Index())
	if err != nil {
		return err
	}
	for _, c := range events {
		f.take(c.kind, c.event.Object, c.event.Type == history.Deleted)
	}
	e.current.Store(f.drafts.publish(root.Index()))
	return nil
}

// load builds the index from a whole state and follows the changes after it.
func (f *follower) load(root *state.Root) error {
	f.followed = nil
	for _, k := range f.evaluator.kinds {
		cursor, err := f.evaluator.store.Watch(stored.Prefix(k, ""), root.Index())
		if err != nil {
			return err
		}
		f.followed = append(f.followed, &changes{kind: k, cursor: cursor})
	}
	f.drafts = newDrafts()
	for _, k := range f.evaluator.kinds {
		root.Ascend(stored.Prefix(k, ""), "", func(o *state.Object) bool {
			f.take(k, o, false)
			return true
		})
	}
	return nil
}

// change is one event of a kind.
type change struct {
	kind  *schema.Kind
	event *history.Event
}

// until returns the changes up to a log index that drafts does not contain yet, in log order.
func (f *follower) until(ctx context.Context, index uint64) ([]change, error) {
	var all []change
	for _, c := range f.followed {
		for c.cursor.Position() < index {
			events, err := c.cursor.Next(ctx)
			if err != nil {
				return nil, err
			}
			c.events = append(c.events, events...)
		}
		due := 0
		for ; due < len(c.events) && c.events[due].Index <= index; due++ {
			all = append(all, change{c.kind, c.events[due]})
		}
		c.events = append([]*history.Event(nil), c.events[due:]...)
	}
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(a.event.Index, b.event.Index) })
	return all, nil
}

// take applies one change. An object that cannot be decoded grants no permissions.
func (f *follower) take(k *schema.Kind, o *state.Object, gone bool) {
	if gone {
		f.drafts.drop(k, o.Key)
		return
	}
	decoded, err := k.DecodeStored(o.Value)
	if err != nil {
		f.drafts.drop(k, o.Key)
		f.evaluator.metrics.errors.Inc()
		f.evaluator.log.Error("a role or binding cannot be decoded and grants no permissions", "key", string(o.Key), "index", o.Version, "error", err)
		return
	}
	f.drafts.put(o.Key, decoded)
}
