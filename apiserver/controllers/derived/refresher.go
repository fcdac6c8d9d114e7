package derived

import (
	"context"
	"log/slog"

	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// Store provides the states.
type Store interface {
	View(ctx context.Context, r raftstore.Read) (*state.Root, error)
	Watch(p state.Prefix, after uint64) (*history.Cursor, error)
}

// Refresher accepts requests to derive data from newer states.
type Refresher struct {
	store    Store
	log      *slog.Logger
	covers   func(*state.Root) bool
	requests chan request
	ended    chan struct{} // closed when Answer returns
}

// request asks that the derived data cover a state.
type request struct {
	root *state.Root
	done chan<- error // has a buffer of one
}

// New returns a Refresher. covers reports whether the derived data cover a state; it must be
// safe for concurrent use. Requests wait until Answer runs.
func New(store Store, log *slog.Logger, covers func(*state.Root) bool) *Refresher {
	return &Refresher{store: store, log: log, covers: covers, requests: make(chan request), ended: make(chan struct{})}
}

// Confirm waits until the derived data cover all writes that any node acknowledged before the call.
func (r *Refresher) Confirm(ctx context.Context) error {
	root, err := r.store.View(ctx, raftstore.Quorum())
	if err != nil {
		return err
	}
	return r.Refresh(ctx, root)
}

// Refresh waits until the derived data cover the state.
func (r *Refresher) Refresh(ctx context.Context, root *state.Root) error {
	if r.covers(root) {
		return nil
	}
	done := make(chan error, 1)
	select {
	case r.requests <- request{root, done}:
	case <-r.ended:
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

// Answer serves requests one at a time until ctx ends. For each state that the derived data do not
// cover, it calls advance, which must make the data cover the state or return an error. Answer must
// be called once. After it has returned, requests fail with raftstore.ErrClosed.
func (r *Refresher) Answer(ctx context.Context, advance func(ctx context.Context, root *state.Root) error) {
	defer close(r.ended)
	for {
		select {
		case <-ctx.Done():
			return
		case req := <-r.requests:
			req.done <- r.advance(ctx, req.root, advance)
		}
	}
}

func (r *Refresher) advance(ctx context.Context, root *state.Root, advance func(context.Context, *state.Root) error) error {
	if r.covers(root) {
		return nil
	}
	return advance(ctx, root)
}

// Follow requests each state in which a key with the prefix has changed. It always returns an
// error.
func (r *Refresher) Follow(ctx context.Context, p state.Prefix) error {
	root, err := r.store.View(ctx, raftstore.Cached())
	if err != nil {
		return err
	}
	changes, err := r.store.Watch(p, root.Index())
	for err == nil {
		if err = r.Refresh(ctx, root); err != nil {
			return err
		}
		if _, err = changes.Next(ctx); err == nil {
			root, err = r.store.View(ctx, raftstore.Cached()) // contains the change
		}
	}
	return err
}

// settle waits until the derived data cover a write. If that fails, it only logs, because the write
// is committed and has to be acknowledged.
func (r *Refresher) settle(ctx context.Context, key state.Key, version uint64) {
	root, err := r.store.View(ctx, raftstore.AtLeast(version))
	if err == nil {
		err = r.Refresh(ctx, root)
	}
	if err != nil {
		r.log.Warn("a write has not taken effect on this node yet", "key", string(key), "index", version, "error", err)
	}
}
