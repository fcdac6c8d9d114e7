package custom

import (
	"context"
	"errors"
	"iter"

	"quorate/apiserver/rest"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// Stale is the error of a request for a kind that a newer state has removed or changed. The request
// had no visible effect and has to be routed again.
type Stale struct{ refusal *status.Error }

func (e *Stale) Error() string { return "the kind was changed or deleted: " + e.refusal.Error() }
func (e *Stale) Unwrap() error { return e.refusal }

// Instances returns the store that the handlers of an owner's kinds use. The handlers may belong to
// a set that is out of date. The store therefore checks each state that View and Pin return: if the
// owner's kinds are not those of the state, it waits until this node serves the state's kinds, and
// returns a *Stale. It does the same after a write if the definition did not exist when the write
// was applied.
func (s *Served) Instances(store rest.Store, o *Owner) rest.Store { return &instances{store, s, o} }

type instances struct {
	rest.Store
	served *Served
	owner  *Owner
}

func (i *instances) View(ctx context.Context, r raftstore.Read) (*state.Root, error) {
	root, err := i.Store.View(ctx, r)
	if err != nil {
		return root, err
	}
	return i.current(ctx, root)
}

// current returns root, or a *Stale if the owner's kinds are not those of root.
func (i *instances) current(ctx context.Context, root *state.Root) (*state.Root, error) {
	if i.owner.holdsIn(root) {
		return root, nil
	}
	if err := i.served.Refresh(ctx, root); err != nil {
		return nil, err
	}
	// An update may have left the kinds as they are, and a successor may not be served.
	if i.owner.standsIn(root) && i.served.current.Load().owner(i.owner.uid) == i.owner {
		return root, nil
	}
	return nil, &Stale{status.NewNoRoute()}
}

// Pin is View for a state that is to be retained.
func (i *instances) Pin(ctx context.Context) (*state.Root, error) {
	root, err := i.Store.Pin(ctx)
	if err != nil {
		return root, err
	}
	return i.current(ctx, root)
}

// A client that has read a state from before the owner's creation may know objects of a former
// owner with the same name, whose deletions it would never receive here. The following methods
// therefore treat such states like compacted ones.

// Retained does not return states from before the owner's creation.
func (i *instances) Retained(index uint64) *state.Root {
	if index < i.owner.created {
		return nil
	}
	return i.Store.Retained(index)
}

// FetchRetained does not return pages of states from before the owner's creation.
func (i *instances) FetchRetained(ctx context.Context, p raftstore.Page) (*raftstore.RemotePage, error) {
	if p.Index < i.owner.created {
		return nil, raftstore.ErrNotRetained
	}
	return i.Store.FetchRetained(ctx, p)
}

// WatchFor returns *history.Compacted for positions from before the owner's creation.
func (i *instances) WatchFor(user string, p state.Prefix, after uint64) (*history.Cursor, error) {
	if after < i.owner.created {
		return nil, &history.Compacted{Want: after, Oldest: i.owner.created}
	}
	return i.Store.WatchFor(user, p, after)
}

// Beginning begins at the owner's creation, or later if the history since then is not retained. If
// the owner has inherited instances, which are older, it begins with the current ones.
func (i *instances) Beginning(ctx context.Context, p state.Prefix) (iter.Seq2[*state.Object, error], uint64, error) {
	objects, after, err := i.Store.Beginning(ctx, p)
	if err != nil || after >= i.owner.created {
		return objects, after, err
	}
	if !i.owner.inherited {
		return objects, i.owner.created, nil
	}
	root, err := i.View(ctx, raftstore.AtLeast(i.owner.created))
	if err != nil {
		return nil, 0, err
	}
	return func(yield func(*state.Object, error) bool) {
		root.Ascend(p, "", func(o *state.Object) bool { return yield(o, nil) })
	}, root.Index(), nil
}

func (i *instances) Create(ctx context.Context, c raftstore.Create) (*state.Object, error) {
	o, err := i.Store.Create(ctx, c)
	if _, exists := errors.AsType[*state.Exists](err); exists { // the existing object may be an instance of a former owner
		if _, stale := i.View(ctx, raftstore.Quorum()); stale != nil {
			return nil, stale
		}
	}
	return i.check(ctx, o, err)
}

func (i *instances) Update(ctx context.Context, u raftstore.Update) (*state.Object, error) {
	o, err := i.Store.Update(ctx, u)
	return i.check(ctx, o, err)
}

func (i *instances) Delete(ctx context.Context, d raftstore.Delete) (*state.Object, error) {
	o, err := i.Store.Delete(ctx, d)
	return i.check(ctx, o, err)
}

// check does not acknowledge a write that was applied after the owner's deletion, because no client
// can see its object, and the leader removes it.
func (i *instances) check(ctx context.Context, o *state.Object, err error) (*state.Object, error) {
	if err != nil {
		return o, err
	}
	root, err := i.Store.View(ctx, raftstore.AtLeast(o.Version))
	if err != nil {
		return nil, raftstore.ErrUnknownOutcome
	}
	if i.owner.standsIn(root) {
		return o, nil
	}
	_, err = i.current(ctx, root)
	return nil, err
}
