package rbac

import (
	"context"

	"quorate/apiserver/rest"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// Writes returns the store for the handlers: a write of a role or binding returns when it counts on this node, so that who wrote
// it can rely on it here.
func (e *Evaluator) Writes(store rest.Store) rest.Store { return &writes{store, e} }

type writes struct {
	rest.Store
	evaluator *Evaluator
}

func (w *writes) Create(ctx context.Context, c raftstore.Create) (*state.Object, error) {
	o, err := w.Store.Create(ctx, c)
	w.evaluator.settle(ctx, c.Key, o, err)
	return o, err
}

func (w *writes) Update(ctx context.Context, u raftstore.Update) (*state.Object, error) {
	o, err := w.Store.Update(ctx, u)
	w.evaluator.settle(ctx, u.Key, o, err)
	return o, err
}

func (w *writes) Delete(ctx context.Context, d raftstore.Delete) (*state.Object, error) {
	o, err := w.Store.Delete(ctx, d)
	w.evaluator.settle(ctx, d.Key, o, err)
	return o, err
}

// settle waits until what a write changed counts. The write is done, whatever becomes of that, and is acknowledged.
func (e *Evaluator) settle(ctx context.Context, key state.Key, o *state.Object, err error) {
	if err != nil || e.kinds[key.Resource()] == nil {
		return
	}
	root, err := e.store.View(ctx, raftstore.AtLeast(o.Version))
	if err == nil {
		err = e.Refresh(ctx, root)
	}
	if err != nil {
		e.log.Warn("a role or binding was written that does not count yet", "index", o.Version, "error", err)
	}
}
