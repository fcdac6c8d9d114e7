package deletion

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"quorate/apiserver/schema"
	"quorate/apiserver/stored"
	"quorate/raftstore/state"
)

// sweepParallel is how many deletes a sweep has under way. They share disk writes, and leave room for clients' own.
const sweepParallel = 128

// Sweep deletes the objects of a kind that a state has, in one namespace or ("") all of them, as a client would in the
// background: grace periods and finalizers hold. It returns how many there were: until none are seen, some may be left.
// Objects that change meanwhile are left for the next sweep. deleted is called for each that went or was marked, from many
// goroutines.
func Sweep(ctx context.Context, s Store, root *state.Root, k *schema.Kind, namespace string, deleted func()) (seen int, err error) {
	return sweep(ctx, s, root, k, namespace, func(*state.Object) bool { return true }, deleted)
}

// SweepOlder is Sweep for the objects of a kind that were last written by an entry up to index.
func SweepOlder(ctx context.Context, s Store, root *state.Root, k *schema.Kind, index uint64, deleted func()) (seen int, err error) {
	return sweep(ctx, s, root, k, "", func(o *state.Object) bool { return o.Version <= index }, deleted)
}

func sweep(
	ctx context.Context, s Store, root *state.Root, k *schema.Kind, namespace string, chosen func(*state.Object) bool, deleted func(),
) (seen int, err error) {
	writes, ctx := errgroup.WithContext(ctx)
	writes.SetLimit(sweepParallel)
	root.Ascend(stored.Prefix(k, namespace), "", func(o *state.Object) bool {
		if !chosen(o) {
			return true
		}
		seen++
		writes.Go(func() error { return sweepOne(ctx, s, k, o, deleted) })
		return ctx.Err() == nil
	})
	return seen, writes.Wait()
}

func sweepOne(ctx context.Context, s Store, k *schema.Kind, o *state.Object, deleted func()) error {
	decoded, err := k.DecodeStored(o.Value)
	if err != nil {
		return err
	}
	decision := Decide(decoded, Options{Policy: Background}, time.Now())
	if decision.Action == Nothing {
		return nil
	}
	if err := Commit(ctx, s, o, decision); err != nil {
		if Lost(err) {
			return nil
		}
		return err
	}
	deleted()
	return nil
}

// Lost reports whether a write was refused because the object has changed meanwhile, or is gone: whoever decided must look
// again.
func Lost(err error) bool {
	_, conflict := errors.AsType[*state.Conflict](err)
	_, gone := errors.AsType[*state.NotFound](err)
	_, recreated := errors.AsType[*state.UIDMismatch](err)
	return conflict || gone || recreated
}
