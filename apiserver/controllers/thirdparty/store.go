package thirdparty

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// StoreOf returns the store that the handlers of a kind use. For ThirdPartyResources, its writes
// return after this node serves the kinds that they define (K5, K13). For other kinds it is store
// itself.
func (s *Served) StoreOf(k *schema.Kind, store rest.Store) rest.Store {
	if k.Resource != s.factory.kind.Resource {
		return store
	}
	return s.Refresher.Writes(&admitting{store, s})
}

type admitting struct {
	rest.Store
	served *Served
}

func (a *admitting) Create(ctx context.Context, c raftstore.Create) (*state.Object, error) {
	if err := a.served.admit(ctx, c.Key); err != nil {
		return nil, err
	}
	return a.Store.Create(ctx, c)
}

// admit rejects a ThirdPartyResource that defines the same plural in the same group as an existing
// one (K11). Of two that are created at the same time, both may be admitted; only the older one is
// then served.
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
