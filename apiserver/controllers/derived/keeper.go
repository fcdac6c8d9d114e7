package derived

import (
	"context"
	"log/slog"

	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// Store is where the states come from.
type Store interface {
	View(ctx context.Context, r raftstore.Read) (*state.Root, error)
	Watch(p state.Prefix, after uint64) (*history.Cursor, error)
}

// Keeper takes requests for what is derived from newer states.
type Keeper struct {
	store    Store
	log      *slog.Logger
	covers   func(*state.Root) bool
	requests chan request
	ended    chan struct{} // closed when requests are answered no more
}

// request asks for what is derived to cover a state.
type request struct {
	root *state.Root
	done chan<- error // holds one
}

// NewKeeper returns a keeper of what covers states as the function says, which any goroutine calls.
// Nothing is answered before Answer.
func NewKeeper(store Store, log *slog.Logger, covers func(*state.Root) bool) *Keeper {
	return &Keeper{store: store, log: log, covers: covers, requests: make(chan request), ended: make(chan struct{})}
}

// Confirm returns when all is covered that had been acknowledged, by any node, before the call.
func (k *Keeper) Confirm(ctx context.Context) error {
	root, err := k.store.View(ctx, raftstore.Quorum())
	if err != nil {
		return err
	}
	return k.Refresh(ctx, root)
}

// Refresh returns when the state is covered.
func (k *Keeper) Refresh(ctx context.Context, root *state.Root) error {
	if k.covers(root) {
		return nil
	}
	done := make(chan error, 1)
	select {
	case k.requests <- request{root, done}:
	case <-k.ended:
		return raftstore.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Answer, called once, serves requests one at a time until ctx ends. advance is called with states
// that are not covered, and covers them unless it returns an error.
func (k *Keeper) Answer(ctx context.Context, advance func(ctx context.Context, root *state.Root) error) {
	defer close(k.ended)
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-k.requests:
			r.done <- k.advance(ctx, r.root, advance)
		}
	}
}

func (k *Keeper) advance(ctx context.Context, root *state.Root, advance func(context.Context, *state.Root) error) error {
	if k.covers(root) {
		return nil
	}
	return advance(ctx, root)
}

// Follow asks for each state in which something below the prefix has changed. It returns an error
// when it can't go on.
func (k *Keeper) Follow(ctx context.Context, p state.Prefix) error {
	root, err := k.store.View(ctx, raftstore.Cached())
	if err != nil {
		return err
	}
	changes, err := k.store.Watch(p, root.Index())
	for err == nil {
		if err = k.Refresh(ctx, root); err != nil {
			return err
		}
		if _, err = changes.Next(ctx); err == nil {
			root, err = k.store.View(ctx, raftstore.Cached()) // which has what a change was seen of
		}
	}
	return err
}

// settle waits until what a write made is covered. The write is done, whatever becomes of that, and
// is acknowledged.
func (k *Keeper) settle(ctx context.Context, key state.Key, version uint64) {
	root, err := k.store.View(ctx, raftstore.AtLeast(version))
	if err == nil {
		err = k.Refresh(ctx, root)
	}
	if err != nil {
		k.log.Warn("what was written does not take effect yet", "key", string(key), "index", version, "error", err)
	}
}
