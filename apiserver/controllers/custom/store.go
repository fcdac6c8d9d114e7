package custom

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/limit"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/rest"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// StoreOf returns the store that the handlers of a kind use. For definitions, its writes return
// after this node serves the kinds that they define (K5, K13). For other kinds it is store itself.
func (s *Served) StoreOf(k *schema.Kind, store rest.Store) rest.Store {
	switch k.Resource {
	case s.factory.kind.Resource:
		return s.Refresher.Writes(&admitting{store, s, s.admitThirdParty})
	case s.factory.definition.Resource:
		return s.Refresher.Writes(&admitting{store, s, s.admitDefinition})
	}
	return store
}

type admitting struct {
	rest.Store
	served *Served
	admit  func(root *state.Root, key state.Key) error
}

func (a *admitting) Create(ctx context.Context, c raftstore.Create) (*state.Object, error) {
	root, err := a.served.store.View(ctx, raftstore.Quorum())
	if err != nil {
		return nil, err
	}
	if err := a.admit(root, c.Key); err != nil {
		return nil, err
	}
	return a.Store.Create(ctx, c)
}

// admitThirdParty rejects a ThirdPartyResource whose plural and group an existing
// ThirdPartyResource or CustomResourceDefinition has (K11). If two ThirdPartyResources are created
// at the same time, both may be admitted; then only the older one is served.
func (s *Served) admitThirdParty(root *state.Root, key state.Key) (err error) {
	name := nameOf(key)
	mine := Define(name)
	refuse := func(other string) error {
		return s.refuse(s.factory.kind, name, "the plural "+mine.Plural+" in group "+mine.Group+" is that of "+other)
	}
	if root.Get(stored.Key(s.factory.definition, "", mine.Plural+"."+mine.Group)) != nil {
		return refuse("the CustomResourceDefinition " + mine.Plural + "." + mine.Group)
	}
	root.Ascend(s.factory.prefixes[0], "", func(o *state.Object) bool {
		other := nameOf(o.Key)
		if d := Define(other); other != name && d.Group == mine.Group && d.Plural == mine.Plural {
			err = refuse(other)
		}
		return err == nil
	})
	return err
}

// admitDefinition rejects a CustomResourceDefinition in a group that the server itself serves, one
// with the plural and group of a ThirdPartyResource, whose instances it could not take over, and
// one beyond maxDefinitions.
func (s *Served) admitDefinition(root *state.Root, key state.Key) (err error) {
	name := nameOf(key)
	plural, group, _ := strings.Cut(name, ".")
	if s.factory.groups[group] {
		return s.refuse(s.factory.definition, name, "the server itself serves the group "+group)
	}
	if root.Get(key) == nil && root.Count(s.factory.prefixes[1]) >= maxDefinitions {
		return limit.Reached(limit.Definitions, status.NewForbidden(status.Subject{
			Group: s.factory.definition.Group, Plural: s.factory.definition.Plural, Kind: s.factory.definition.Kind, Name: name,
		}, fmt.Sprintf("at most %d CustomResourceDefinitions are served", maxDefinitions)))
	}
	root.Ascend(s.factory.prefixes[0], "", func(o *state.Object) bool {
		other := nameOf(o.Key)
		if d := Define(other); d.Group == group && d.Plural == plural {
			err = s.refuse(s.factory.definition, name,
				"the plural "+plural+" in group "+group+" is that of the ThirdPartyResource "+other+": delete it first")
		}
		return err == nil
	})
	return err
}

// refuse returns the error for a definition whose name cannot be served.
func (s *Served) refuse(k *schema.Kind, name, why string) error {
	return status.NewInvalid(status.Subject{Group: k.Group, Plural: k.Plural, Kind: k.Kind, Name: name},
		field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), name, why)})
}
