package deletion

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/raftstore/state"
)

// sweepParallel is how many deletes a sweep has under way. They share disk writes, and leave room
// for clients' own.
const sweepParallel = 128

// Swept counts what a sweep met. What is in neither count was going already.
type Swept struct {
	Told   int64 // removed, or marked
	Missed int64 // changed meanwhile: left for the next sweep
}

// Sweep deletes the objects of a kind that a state has, in one namespace or ("") all of them, as a
// client would in the background: grace periods and finalizers hold. told is called for each that
// went or was marked, from many goroutines.
func Sweep(ctx context.Context, s Store, root *state.Root, k *schema.Kind, namespace string, told func()) (Swept, error) {
	return sweep(ctx, s, root, k, namespace, func(*state.Object) bool { return true }, told)
}

// SweepOlder is Sweep for the objects of a kind that were last written by an entry up to index.
func SweepOlder(ctx context.Context, s Store, root *state.Root, k *schema.Kind, index uint64, told func()) (Swept, error) {
	return sweep(ctx, s, root, k, "", func(o *state.Object) bool { return o.Version <= index }, told)
}

func sweep(
	ctx context.Context, s Store, root *state.Root, k *schema.Kind, namespace string, chosen func(*state.Object) bool, told func(),
) (Swept, error) {
	var marked, missed atomic.Int64
	writes, ctx := errgroup.WithContext(ctx)
	writes.SetLimit(sweepParallel)
	root.Ascend(stored.Prefix(k, namespace), "", func(o *state.Object) bool {
		if !chosen(o) {
			return true
		}
		writes.Go(func() error {
			action, err := sweepOne(ctx, s, k, o)
			switch {
			case Lost(err):
				missed.Add(1)
				return nil
			case err == nil && action != Nothing:
				marked.Add(1)
				told()
			}
			return err
		})
		return ctx.Err() == nil
	})
	err := writes.Wait()
	return Swept{Told: marked.Load(), Missed: missed.Load()}, err
}

func sweepOne(ctx context.Context, s Store, k *schema.Kind, o *state.Object) (Action, error) {
	decoded, err := k.DecodeStored(o.Value)
	if err != nil {
		return Nothing, err
	}
	decision := Decide(decoded, Options{Policy: Background}, time.Now())
	return decision.Action, Commit(ctx, s, o, decision)
}

// Lost reports whether a write was refused because the object has changed meanwhile, or is gone:
// whoever decided must look again.
func Lost(err error) bool {
	_, conflict := errors.AsType[*state.Conflict](err)
	_, gone := errors.AsType[*state.NotFound](err)
	_, recreated := errors.AsType[*state.UIDMismatch](err)
	return conflict || gone || recreated
}
