package thirdparty

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/rest"
	"quorate/apiserver/status"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// Stale reports that a request came by a route that a newer state has no more, or has anew. What it did, if anything, came to
// nothing: it is to be routed again.
type Stale struct{ refusal *status.Error }

func (e *Stale) Error() string { return "the kind was changed or deleted: " + e.refusal.Error() }
func (e *Stale) Unwrap() error { return e.refusal }

// Writes returns the store for the handlers of the kinds of the files: a write of a ThirdPartyResource returns when this node
// serves what it says (K5, K13).
func (s *Served) Writes(store rest.Store) rest.Store { return &writes{store, s} }

type writes struct {
	rest.Store
	served *Served
}

func (w *writes) Create(ctx context.Context, c raftstore.Create) (*state.Object, error) {
	if !w.served.prefix.Covers(c.Key) {
		return w.Store.Create(ctx, c)
	}
	if err := w.served.admit(ctx, c.Key); err != nil {
		return nil, err
	}
	o, err := w.Store.Create(ctx, c)
	w.served.settle(ctx, o, err)
	return o, err
}

func (w *writes) Update(ctx context.Context, u raftstore.Update) (*state.Object, error) {
	o, err := w.Store.Update(ctx, u)
	if w.served.prefix.Covers(u.Key) {
		w.served.settle(ctx, o, err)
	}
	return o, err
}

func (w *writes) Delete(ctx context.Context, d raftstore.Delete) (*state.Object, error) {
	o, err := w.Store.Delete(ctx, d)
	if w.served.prefix.Covers(d.Key) {
		w.served.settle(ctx, o, err)
	}
	return o, err
}

// settle waits until what a write changed is served. The write is done, whatever becomes of that, and is acknowledged.
func (s *Served) settle(ctx context.Context, o *state.Object, err error) {
	if err != nil {
		return
	}
	root, err := s.store.View(ctx, raftstore.AtLeast(o.Version))
	if err == nil {
		err = s.Refresh(ctx, root)
	}
	if err != nil {
		s.log.Warn("a ThirdPartyResource was written that is not served yet", "index", o.Version, "error", err)
	}
}

// admit refuses a ThirdPartyResource that makes the same plural in the same group as another one (K11). Of two that are
// created at the same moment both may get in; then the younger one is not served.
func (s *Served) admit(ctx context.Context, key state.Key) error {
	root, err := s.store.View(ctx, raftstore.Quorum())
	if err != nil {
		return err
	}
	name := nameOf(key)
	mine := Define(name)
	root.Ascend(s.prefix, "", func(o *state.Object) bool {
		other := nameOf(o.Key)
		if d := Define(other); other != name && d.Group == mine.Group && d.Plural == mine.Plural {
			err = status.NewInvalid(status.Subject{
				Group: s.factory.kind.Group, Plural: s.factory.kind.Plural, Kind: s.factory.kind.Kind, Name: name,
			}, field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), name,
				"the plural "+mine.Plural+" in group "+mine.Group+" is that of "+other)})
		}
		return err == nil
	})
	return err
}

// Instances returns the store for the handlers of an owner's kinds. They may be those of a node that is behind: every state
// that they are given is checked to have the owner, and every write to have come while it was there. Else the error is a
// *Stale, when what the newer state defines is served.
func (s *Served) Instances(store rest.Store, o *Owner) rest.Store { return &instances{store, s, o} }

type instances struct {
	rest.Store
	served *Served
	owner  *Owner
}

func (i *instances) View(ctx context.Context, r raftstore.Read) (*state.Root, error) {
	root, err := i.Store.View(ctx, r)
	if err != nil || i.owner.holdsIn(root) {
		return root, err
	}
	return nil, i.stale(ctx, root)
}

func (i *instances) stale(ctx context.Context, root *state.Root) error {
	if err := i.served.Refresh(ctx, root); err != nil {
		return err
	}
	return &Stale{status.NewNoRoute()}
}

func (i *instances) Create(ctx context.Context, c raftstore.Create) (*state.Object, error) {
	o, err := i.Store.Create(ctx, c)
	if _, exists := errors.AsType[*state.Exists](err); exists { // here, or among what a former one left
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

// check refuses to acknowledge a write that came after the owner was deleted: nobody can see it, and it will be removed.
func (i *instances) check(ctx context.Context, o *state.Object, err error) (*state.Object, error) {
	if err != nil {
		return o, err
	}
	root, err := i.Store.View(ctx, raftstore.AtLeast(o.Version))
	if err != nil {
		return nil, raftstore.ErrUnknownOutcome
	}
	if !i.owner.standsIn(root) {
		return nil, i.stale(ctx, root)
	}
	return o, nil
}
