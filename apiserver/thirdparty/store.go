package thirdparty

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/rest"
	"quorate/apiserver/status"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

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
