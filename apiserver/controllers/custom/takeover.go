package custom

import (
	"cmp"
	"context"
	"strings"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/objects/validation"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// candidate is a definition that a set may serve.
type candidate struct {
	object     *state.Object
	definition *definition // nil for a ThirdPartyResource
	age        uint64      // log index of its creation, or of that of its predecessor
}

// older orders candidates by age. A definition precedes the ThirdPartyResource whose age it has.
func older(a, b *candidate) int {
	return cmp.Or(cmp.Compare(a.age, b.age), cmp.Compare(b.object.Created, a.object.Created))
}

// succeed gives each definition that has inherited instances the age of its predecessor, and returns
// these definitions by the uids of their predecessors. A definition keeps no instances of a
// ThirdPartyResource that was deleted and created again before the definition was created.
func succeed(candidates []*candidate) map[string]*definition {
	thirdParties := map[string]*state.Object{}
	for _, c := range candidates {
		if c.definition == nil {
			thirdParties[c.object.UID] = c.object
		}
	}
	successors := map[string]*definition{}
	for _, c := range candidates {
		d := c.definition
		if d == nil || d.inherits == "" {
			continue
		}
		if d.predecessor = thirdParties[d.inherits]; d.predecessor != nil {
			c.age = min(c.age, d.predecessor.Created)
			successors[d.inherits] = d
			continue
		}
		d.disinherited = !d.established && replaced(d, thirdParties)
	}
	return successors
}

// replaced reports whether a ThirdPartyResource that is older than a definition has its plural and
// group.
func replaced(d *definition, thirdParties map[string]*state.Object) bool {
	for _, o := range thirdParties {
		if other := Define(nameOf(o.Key)); o.Created < d.object.Created && other.Plural == d.asked.plural && other.Group == d.group {
			return true
		}
	}
	return false
}

// inherited returns the uids of the ThirdPartyResources whose instances definitions have taken over.
func (s *Set) inherited() map[string]bool {
	uids := map[string]bool{}
	for _, d := range s.definitions {
		if d.inherits != "" && !d.disinherited {
			uids[d.inherits] = true
		}
	}
	return uids
}

// definitionKey returns the key of the CustomResourceDefinition of a plural in a group.
func (f *factory) definitionKey(group, plural string) state.Key {
	return stored.Key(f.definition, "", plural+"."+group)
}

// thirdParties returns the ThirdPartyResources in a state that define a plural in a group.
func (f *factory) thirdParties(root *state.Root, group, plural string) []*state.Object {
	var found []*state.Object
	root.Ascend(f.prefixes[0], "", func(o *state.Object) bool {
		if d := Define(nameOf(o.Key)); d.Group == group && d.Plural == plural {
			found = append(found, o)
		}
		return true
	})
	return found
}

// takeOver returns the create of a definition that takes over the instances of a ThirdPartyResource
// in the same write: it records under which uid they are stored. The guard requires the
// ThirdPartyResource to exist when the write is applied, so that the instances cannot have become
// orphans before. All members must run this node's build: a leader of a build that does not know the
// record would remove the instances once the ThirdPartyResource is deleted.
func (s *Served) takeOver(ctx context.Context, c raftstore.Create, from *state.Object) (raftstore.Create, error) {
	o, err := s.factory.definition.DecodeStored(c.Object.Value)
	if err != nil {
		return c, err
	}
	why := hindrance(o, Define(nameOf(from.Key)))
	if why == "" && s.otherBuild != nil {
		if why, err = s.otherBuild(ctx); err != nil {
			return c, err
		}
	}
	if why != "" {
		return c, s.refuse(s.factory.definition, nameOf(c.Key), "the plural is that of the ThirdPartyResource "+nameOf(from.Key)+
			", whose instances cannot be taken over: "+why)
	}
	validation.TakeInstancesOf(o, from.UID)
	c.Object, _ = stored.Encode(o)
	c.Guard = from.Key
	return c, nil
}

// hindrance returns why a definition cannot take over the instances of a ThirdPartyResource, or "".
func hindrance(o *schema.Object, from schema.Definition) string {
	spec := o.Root().Field("spec")
	if kind := spec.Lookup("names", "kind").Str(); kind != from.Kind {
		return "spec.names.kind must be " + from.Kind
	}
	if spec.Field("scope").Str() != "Namespaced" {
		return "spec.scope must be Namespaced"
	}
	if spec.Lookup("conversion", "strategy").Str() == "Webhook" {
		return "spec.conversion.strategy must be None, because they can be stored in versions that the webhook does not know"
	}
	for _, v := range spec.Field("versions").Items() {
		if v.Field("selectableFields").IsSet() {
			return "spec.versions must have no selectableFields, because selectors could not find them"
		}
	}
	return ""
}

// several names ThirdPartyResources in a message.
func several(objects []*state.Object) string {
	all := make([]string, len(objects))
	for i, o := range objects {
		all[i] = nameOf(o.Key)
	}
	return strings.Join(all, ", ")
}
