package derived

import (
	"context"

	"quorate/apiserver/rest"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// Writes returns a store for the handlers of objects from which data are derived. After a
// successful write, it waits until the derived data of this node cover the write, so that the
// client's next request to this node sees the effect. If the wait fails, the write is acknowledged
// all the same.
func (r *Refresher) Writes(store rest.Store) rest.Store { return &writes{store, r} }

type writes struct {
	rest.Store
	refresher *Refresher
}

func (w *writes) Create(ctx context.Context, c raftstore.Create) (*state.Object, error) {
	return w.settled(ctx, c.Key, func() (*state.Object, error) { return w.Store.Create(ctx, c) })
}

func (w *writes) Update(ctx context.Context, u raftstore.Update) (*state.Object, error) {
	return w.settled(ctx, u.Key, func() (*state.Object, error) { return w.Store.Update(ctx, u) })
}

func (w *writes) Delete(ctx context.Context, d raftstore.Delete) (*state.Object, error) {
	return w.settled(ctx, d.Key, func() (*state.Object, error) { return w.Store.Delete(ctx, d) })
}

func (w *writes) settled(ctx context.Context, key state.Key, write func() (*state.Object, error)) (*state.Object, error) {
	o, err := write()
	if err == nil {
		w.refresher.settle(ctx, key, o.Version)
	}
	return o, err
}
