package custom

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/limit"
	"quorate/apiserver/objects/schema"
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
	// admit returns the create that is to be made, or why it is refused.
	admit func(ctx context.Context, root *state.Root, c raftstore.Create) (raftstore.Create, error)
}

func (a *admitting) Create(ctx context.Context, c raftstore.Create) (*state.Object, error) {
	for {
		root, err := a.served.store.View(ctx, raftstore.Quorum())
		if err != nil {
			return nil, err
		}
		admitted, err := a.admit(ctx, root, c)
		if err != nil {
			return nil, err
		}
		o, err := a.Store.Create(ctx, admitted)
		if _, changed := errors.AsType[*state.GuardFailed](err); !changed || ctx.Err() != nil {
			return o, err
		}
	}
}

// admitThirdParty rejects a ThirdPartyResource whose plural and group an existing
// ThirdPartyResource or CustomResourceDefinition has (K11). If two ThirdPartyResources are created
// at the same time, both may be admitted; then only the older one is served.
func (s *Served) admitThirdParty(_ context.Context, root *state.Root, c raftstore.Create) (raftstore.Create, error) {
	name := nameOf(c.Key)
	mine := Define(name)
	refuse := func(other string) error {
		return s.refuse(s.factory.kind, name, "the plural "+mine.Plural+" in group "+mine.Group+" is that of "+other)
	}
	if root.Get(s.factory.definitionKey(mine.Group, mine.Plural)) != nil {
		return c, refuse("the CustomResourceDefinition " + mine.Plural + "." + mine.Group)
	}
	for _, o := range s.factory.thirdParties(root, mine.Group, mine.Plural) {
		if other := nameOf(o.Key); other != name {
			return c, refuse(other)
		}
	}
	return c, nil
}

// admitDefinition rejects a CustomResourceDefinition in a group that the server itself serves, and
// one beyond maxDefinitions. One with the plural and group of a ThirdPartyResource takes over its
// instances, or is rejected if it cannot.
func (s *Served) admitDefinition(ctx context.Context, root *state.Root, c raftstore.Create) (raftstore.Create, error) {
	name := nameOf(c.Key)
	plural, group, _ := strings.Cut(name, ".")
	if s.factory.groups[group] {
		return c, s.refuse(s.factory.definition, name, "the server itself serves the group "+group)
	}
	if root.Get(c.Key) != nil {
		return c, nil // the store rejects it
	}
	if root.Count(s.factory.prefixes[1]) >= maxDefinitions {
		return c, limit.Reached(limit.Definitions, status.NewForbidden(status.Subject{
			Group: s.factory.definition.Group, Plural: s.factory.definition.Plural, Kind: s.factory.definition.Kind, Name: name,
		}, fmt.Sprintf("at most %d CustomResourceDefinitions are served", maxDefinitions)))
	}
	switch former := s.factory.thirdParties(root, group, plural); len(former) {
	case 0:
		return c, nil
	case 1:
		return s.takeOver(ctx, c, former[0])
	default:
		return c, s.refuse(s.factory.definition, name,
			"the plural "+plural+" in group "+group+" is that of several ThirdPartyResources: delete all but one of "+several(former))
	}
}

// refuse returns the error for a definition whose name cannot be served.
func (s *Served) refuse(k *schema.Kind, name, why string) error {
	return status.NewInvalid(status.Subject{Group: k.Group, Plural: k.Plural, Kind: k.Kind, Name: name},
		field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), name, why)})
}
