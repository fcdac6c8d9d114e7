package thirdparty

import (
	"cmp"
	"fmt"
	"slices"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/rest/watch"
	"quorate/raftstore/state"
)

// maxServed limits the ThirdPartyResources that are served, because each takes routes and documents
// on every node. If there are more, the oldest are served.
const maxServed = 1000

// Set holds the kinds that the ThirdPartyResources of a state define. It is immutable.
type Set struct {
	// Catalog contains the kinds that have files and those of the set.
	Catalog *schema.Catalog
	// Owners are the ThirdPartyResources that are served, by time of creation.
	Owners []*Owner

	index    uint64 // of the state
	known    []version
	unserved int
}

// version identifies one version of one ThirdPartyResource.
type version struct {
	uid   string
	index uint64
}

// Owner is a ThirdPartyResource that is served. It is immutable; an update of the
// ThirdPartyResource results in another Owner.
type Owner struct {
	Kinds []Kind

	key state.Key
	version
	created  uint64 // index of its creation; all instances are newer
	resource string
}

// Kind is a kind that is served.
type Kind struct {
	*schema.Kind
	// End ends when the kind's routes are removed and its watches have no more events (K14, K15).
	End *watch.End
}

// standsIn reports whether the ThirdPartyResource exists in root, possibly updated.
func (o *Owner) standsIn(root *state.Root) bool {
	found := root.Get(o.key)
	return found != nil && found.UID == o.uid
}

// holdsIn reports whether the ThirdPartyResource exists unchanged in root.
func (o *Owner) holdsIn(root *state.Root) bool {
	found := root.Get(o.key)
	return found != nil && found.UID == o.uid && found.Version == o.index
}

// covers reports whether the set is that of a state.
func (s *Set) covers(root *state.Root, prefix state.Prefix) bool {
	i, same := 0, true
	root.Ascend(prefix, "", func(o *state.Object) bool {
		same = i < len(s.known) && s.known[i] == version{o.UID, o.Version}
		i++
		return same
	})
	return same && i == len(s.known)
}

// factory builds sets.
type factory struct {
	kind   *schema.Kind // ThirdPartyResource
	static *schema.Catalog
	groups map[string]bool // of the static kinds
}

// make returns the set of a state. It reuses the unchanged parts of the previous set.
func (f *factory) make(root *state.Root, before *Set) (*Set, error) {
	set := &Set{index: root.Index()}
	var objects []*state.Object
	root.Ascend(stored.Prefix(f.kind, ""), "", func(o *state.Object) bool {
		objects = append(objects, o)
		set.known = append(set.known, version{o.UID, o.Version})
		return true
	})
	// If two define the same plural in one group, only the older one is served (K11).
	slices.SortStableFunc(objects, func(a, b *state.Object) int { return cmp.Compare(a.Created, b.Created) })
	taken := map[string]bool{}
	var kinds []*schema.Kind
	for _, o := range objects {
		d := Define(nameOf(o.Key))
		d.Resource = resourceOf(&d, o.UID)
		route := d.Group + separator + d.Plural
		if taken[route] || f.groups[d.Group] || len(set.Owners) == maxServed {
			set.unserved++
			continue
		}
		taken[route] = true
		owner, err := f.owner(o, d, before)
		if err != nil {
			return nil, err
		}
		set.Owners = append(set.Owners, owner)
		for _, k := range owner.Kinds {
			kinds = append(kinds, k.Kind)
		}
	}
	var err error
	set.Catalog, err = f.static.With(kinds)
	return set, err
}

func (f *factory) owner(o *state.Object, d schema.Definition, before *Set) (*Owner, error) {
	former := before.owner(o.UID)
	if former != nil && former.index == o.Version {
		return former, nil
	}
	decoded, err := f.kind.DecodeStored(o.Value)
	if err != nil {
		return nil, fmt.Errorf("decode ThirdPartyResource %s: %w", nameOf(o.Key), err)
	}
	for _, v := range decoded.Field("versions").Items() {
		d.Versions = append(d.Versions, v.Field("name").Str())
	}
	owner := &Owner{key: o.Key, version: version{o.UID, o.Version}, created: o.Created, resource: d.Resource}
	compiled, err := f.static.Schemaless(d)
	if err != nil {
		return nil, err
	}
	for _, k := range compiled {
		owner.Kinds = append(owner.Kinds, Kind{k, former.end(k.Version)})
	}
	return owner, nil
}

// owner returns the owner with a uid, or nil.
func (s *Set) owner(uid string) *Owner {
	i := slices.IndexFunc(s.Owners, func(o *Owner) bool { return o.uid == uid })
	if i < 0 {
		return nil
	}
	return s.Owners[i]
}

// end returns the End of a version: that of the previous Owner o if o had the version, else a new
// one.
func (o *Owner) end(version string) *watch.End {
	if o != nil {
		for _, k := range o.Kinds {
			if k.Version == version {
				return k.End
			}
		}
	}
	return watch.NewEnd()
}

// serves reports whether the owner has a version.
func (o *Owner) serves(version string) bool {
	return slices.ContainsFunc(o.Kinds, func(k Kind) bool { return k.Version == version })
}
