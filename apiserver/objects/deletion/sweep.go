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

// sweepParallel is the number of concurrent deletes of a sweep: enough for them to share disk
// writes, and few enough to leave capacity for clients' writes.
const sweepParallel = 128

// Swept counts the objects of a sweep. Objects that were already being deleted are not counted.
type Swept struct {
	Deleted int64 // removed, or marked as terminating
	Missed  int64 // not deleted, because a concurrent write changed them; the next sweep handles them
}

// Sweep deletes the objects of a kind in root: those of one namespace, or of all namespaces if
// namespace is "". Like a client's delete with background propagation, it respects grace periods
// and finalizers. It calls deleted, possibly concurrently, for each object that it removed or
// marked. Objects that changed since root are counted as Missed, and are no error.
func Sweep(ctx context.Context, s Store, root *state.Root, k *schema.Kind, namespace string, deleted func()) (Swept, error) {
	return sweep(ctx, s, root, k, namespace, func(*state.Object) bool { return true }, deleted)
}

// SweepOlder is Sweep limited to objects whose last write was at or before index.
func SweepOlder(ctx context.Context, s Store, root *state.Root, k *schema.Kind, index uint64, deleted func()) (Swept, error) {
	return sweep(ctx, s, root, k, "", func(o *state.Object) bool { return o.Version <= index }, deleted)
}

func sweep(
	ctx context.Context, s Store, root *state.Root, k *schema.Kind, namespace string, chosen func(*state.Object) bool, deleted func(),
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
				deleted()
			}
			return err
		})
		return ctx.Err() == nil
	})
	err := writes.Wait()
	return Swept{Deleted: marked.Load(), Missed: missed.Load()}, err
}

func sweepOne(ctx context.Context, s Store, k *schema.Kind, o *state.Object) (Action, error) {
	decoded, err := k.DecodeStored(o.Value)
	if err != nil {
		return Nothing, err
	}
	decision := Decide(decoded, Options{Policy: Background}, time.Now())
	return decision.Action, Commit(ctx, s, o, decision)
}

// Lost reports whether a write failed because the object was changed or removed since it was read.
// The caller then has to decide again on the new version.
func Lost(err error) bool {
	_, conflict := errors.AsType[*state.Conflict](err)
	_, gone := errors.AsType[*state.NotFound](err)
	_, recreated := errors.AsType[*state.UIDMismatch](err)
	return conflict || gone || recreated
}
