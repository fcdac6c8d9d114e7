package custom

import (
	"fmt"
	"strings"

	"quorate/apiserver/objects/schema"
	"quorate/raftstore/state"
)

// Define returns the kind and group (K1) and the plural and singular (K4) that the valid name of a
// ThirdPartyResource defines.
func Define(name string) schema.Definition {
	kebab, group, _ := strings.Cut(name, ".")
	var kind strings.Builder
	for word := range strings.SplitSeq(kebab, "-") {
		if word != "" {
			kind.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	singular := strings.ReplaceAll(kebab, "-", "")
	return schema.Definition{Kind: kind.String(), Group: group, Singular: singular, Plural: plural(singular)}
}

// plural returns the plural as Kubernetes forms it for ThirdPartyResources (K4).
func plural(singular string) string {
	switch singular[len(singular)-1] {
	case 's':
		return singular + "es"
	case 'y':
		return singular[:len(singular)-1] + "ies"
	}
	return singular + "s"
}

// thirdParty returns the owner of a ThirdPartyResource: that of the previous set if it has not
// changed.
func (f *factory) thirdParty(o *state.Object, d schema.Definition, before *Set) (*Owner, error) {
	former := before.owner(o.UID)
	if former != nil && former.index.Load() == o.Version {
		return former, nil
	}
	decoded, err := f.kind.DecodeStored(o.Value)
	if err != nil {
		return nil, fmt.Errorf("decode ThirdPartyResource %s: %w", nameOf(o.Key), err)
	}
	for _, v := range decoded.Field("versions").Items() {
		d.Versions = append(d.Versions, v.Field("name").Str())
	}
	compiled, err := f.static.Schemaless(d)
	if err != nil {
		return nil, err
	}
	owner := newOwner(o, d.Resource, compiled, former)
	owner.successor = f.definitionKey(d.Group, d.Plural)
	return owner, nil
}
