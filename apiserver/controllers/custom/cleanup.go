package custom

import (
	"context"
	"time"

	"quorate/apiserver/objects/deletion"
	"quorate/raftstore/state"
)

// cleanupPause is the interval at which the leader looks whether the instances of a definition that
// is being deleted are gone.
const cleanupPause = 200 * time.Millisecond

// cleanUp deletes the instances of a CustomResourceDefinition that is being deleted, and removes
// the definition's cleanup finalizer when none is left. It respects the instances' finalizers
// unless the definition is not served, because then no client could remove them. Instances that a
// node writes later, because it is behind, are removed as orphans. Instances of a ThirdPartyResource
// that still exists are left to it.
func (s *Served) cleanUp(ctx context.Context, root *state.Root, d *definition) error {
	prefix := state.ResourcePrefix(resourceOf(d.group, d.asked.plural, d.storage()))
	switch {
	case d.predecessor != nil || root.Count(prefix) == 0:
		return s.release(ctx, d)
	case d.verdict.owner != nil:
		_, err := deletion.Sweep(ctx, s.store, root, d.verdict.owner.storage(), "", s.metrics.removed.Inc)
		return err
	}
	return s.removeAll(ctx, root, prefix) // clients cannot reach the objects to remove their finalizers
}

// release removes the cleanup finalizer.
func (s *Served) release(ctx context.Context, d *definition) error {
	o, err := s.factory.definition.DecodeStored(d.object.Value)
	if err != nil {
		return err
	}
	err = deletion.Commit(ctx, s.store, d.object, deletion.Released(o, o.Kind.Strategy.CleanupFinalizer))
	if err == nil || deletion.Lost(err) {
		return nil
	}
	return err
}

// removeAll removes all objects under a prefix regardless of their finalizers.
func (s *Served) removeAll(ctx context.Context, root *state.Root, prefix state.Prefix) error {
	var failed error
	root.Ascend(prefix, "", func(o *state.Object) bool {
		failed = s.removeOne(ctx, o)
		return failed == nil
	})
	return failed
}
