package lifecycle

import (
	"bytes"
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// terminatingMark is part of the JSON of every terminating object. Other objects may contain it,
// too, for instance in templates, so a match has to be confirmed by decoding.
const terminatingMark = `"deletionTimestamp":"`

func maybeTerminating(o *state.Object) bool { return bytes.Contains(o.Value, []byte(terminatingMark)) }

// expiry removes the objects of one kind whose grace period has ended.
type expiry struct {
	*Lifecycle
	kind *schema.Kind
	next deadlines
	seen uint64 // index of the last change processed
}

// expire watches a kind and removes its objects at their deletionTimestamp (G13).
func (l *Lifecycle) expire(ctx context.Context, k *schema.Kind) error {
	e := &expiry{Lifecycle: l, kind: k}
	root, err := l.store.View(ctx, raftstore.Cached())
	if err != nil {
		return err
	}
	prefix := stored.Prefix(k, "")
	root.Ascend(prefix, "", func(o *state.Object) bool {
		err = e.note(o)
		return err == nil && ctx.Err() == nil
	})
	if err != nil {
		return err
	}
	changes, err := l.store.Watch(prefix, root.Index())
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		if err := e.followToDeadline(ctx, changes); err != nil {
			return err
		}
		if err := e.removeDue(ctx, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// note records the deadline of a terminating object.
func (e *expiry) note(o *state.Object) error {
	if !maybeTerminating(o) {
		e.next.drop(o.Key)
		return nil
	}
	decoded, err := e.kind.DecodeStored(o.Value)
	if err != nil {
		return err
	}
	if at, terminating := decoded.DeletionTimestamp(); terminating {
		e.next.set(o.Key, at)
	} else {
		e.next.drop(o.Key)
	}
	return nil
}

// followToDeadline processes changes until the next deadline.
func (e *expiry) followToDeadline(ctx context.Context, changes *history.Cursor) error {
	if e.next.len() > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, e.next.first().at)
		defer cancel()
	}
	events, err := changes.Next(ctx)
	if err != nil && ctx.Err() != nil {
		return nil // the deadline has passed
	}
	if err != nil {
		return err
	}
	for _, event := range events {
		e.seen = event.Index
		if event.Type == history.Deleted {
			e.next.drop(event.Object.Key)
			continue
		}
		if err := e.note(event.Object); err != nil {
			return err
		}
	}
	return nil
}

func (e *expiry) removeDue(ctx context.Context, now time.Time) error {
	if e.next.len() == 0 || e.next.first().at.After(now) {
		return nil
	}
	root, err := e.store.View(ctx, raftstore.AtLeast(e.seen))
	if err != nil {
		return err
	}
	writes, ctx := errgroup.WithContext(ctx)
	writes.SetLimit(parallel)
	for key, due := e.next.due(now); due; key, due = e.next.due(now) {
		if o := root.Get(key); o != nil {
			writes.Go(func() error { return e.remove(ctx, o, now) })
		}
	}
	return writes.Wait()
}

// remove deletes an object as a client's delete without a grace period does. It does nothing if the
// object is not due at now, or if the object changes at the same time, for instance because its
// deadline is brought forward: expire then processes that change.
func (e *expiry) remove(ctx context.Context, o *state.Object, now time.Time) error {
	decoded, err := e.kind.DecodeStored(o.Value)
	if err != nil {
		return err
	}
	if at, terminating := decoded.DeletionTimestamp(); !terminating || at.After(now) {
		return nil
	}
	decision := deletion.Decide(decoded, deletion.Options{Grace: new(int64)}, now)
	err = deletion.Commit(ctx, e.store, o, decision)
	switch {
	case deletion.Lost(err):
		return nil
	case err == nil && decision.Action != deletion.Nothing:
		e.metrics.expired.Inc()
	}
	return err
}
