package custom

import (
	"slices"

	"quorate/apiserver/controllers/custom/conversion"
	"quorate/apiserver/objects/expression"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/webhook"
	"quorate/raftstore/state"
)

// maxServed limits the ThirdPartyResources that are served, because each takes routes and documents
// on every node. If there are more, the oldest are served.
const maxServed = 1000

// Set holds the kinds that the definitions of a state define. It is immutable.
type Set struct {
	// Catalog contains the kinds that have files and those of the set.
	Catalog *schema.Catalog
	// Owners are the definitions that are served, by time of creation.
	Owners []*Owner

	index    uint64 // of the state
	known    []version
	unserved int // ThirdPartyResources
	byUID    map[string]*Owner
	stored   map[string]*Owner // by the resource of their instances
	// definitions are the CustomResourceDefinitions, by time of creation.
	definitions       []*definition
	definitionsByUID  map[string]*definition
	definitionsServed int
}

// version identifies one version of one definition.
type version struct {
	uid   string
	index uint64
}

// prefixes are the key prefixes of ThirdPartyResources and CustomResourceDefinitions.
type prefixes [2]state.Prefix

// each calls fn with each definition in root until fn returns false.
func (p prefixes) each(root *state.Root, fn func(o *state.Object) bool) {
	more := true
	for _, prefix := range p {
		root.Ascend(prefix, "", func(o *state.Object) bool {
			more = more && fn(o)
			return more
		})
	}
}

// covers reports whether the set is that of a state.
func (s *Set) covers(root *state.Root, p prefixes) bool {
	i, same := 0, true
	p.each(root, func(o *state.Object) bool {
		same = i < len(s.known) && s.known[i] == version{o.UID, o.Version}
		i++
		return same
	})
	return same && i == len(s.known)
}

// owner returns the owner with a uid, or nil.
func (s *Set) owner(uid string) *Owner { return s.byUID[uid] }

// ownerOf returns the owner of the instances that are stored as a resource, or nil.
func (s *Set) ownerOf(resource string) *Owner { return s.stored[resource] }

// factory builds sets.
type factory struct {
	kind       *schema.Kind // ThirdPartyResource
	definition *schema.Kind // CustomResourceDefinition
	static     *schema.Catalog
	prefixes   prefixes        // of both
	groups     map[string]bool // of the static kinds
	programs   *expression.Programs
	webhooks   *conversion.Metrics
	answers    *webhook.Answers
}

// make returns the set of a state. It reuses the unchanged parts of the previous set.
func (f *factory) make(root *state.Root, before *Set) (*Set, error) {
	set := &Set{
		index: root.Index(), byUID: map[string]*Owner{}, stored: map[string]*Owner{}, definitionsByUID: map[string]*definition{},
	}
	var candidates []*candidate
	var err error
	f.prefixes.each(root, func(o *state.Object) bool {
		set.known = append(set.known, version{o.UID, o.Version})
		c := &candidate{object: o, age: o.Created}
		if o.Key.Resource() == f.definition.Resource {
			c.definition, err = f.read(o, before)
		}
		candidates = append(candidates, c)
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	successors := succeed(candidates)
	// If two define the same plural in one group, only the older one is served (K11).
	slices.SortStableFunc(candidates, older)
	for _, c := range candidates {
		if d := c.definition; d != nil {
			set.definitions = append(set.definitions, d)
			set.definitionsByUID[d.uid] = d
		}
	}
	b := &setBuilder{
		factory: f, set: set, before: before, names: claimAccepted(set.definitions), taken: map[string]bool{}, successors: successors,
	}
	for _, c := range candidates {
		if c.definition != nil {
			b.addDefinition(c.definition)
		} else if err := b.addThirdParty(c.object); err != nil {
			return nil, err
		}
	}
	set.Catalog, err = f.static.With(b.kinds)
	return set, err
}

// setBuilder adds definitions to a set in the order of their creation.
type setBuilder struct {
	*factory
	set    *Set
	before *Set
	names  *claims
	taken  map[string]bool // groups with plurals
	kinds  []*schema.Kind
	// successors are the definitions that have inherited the instances of ThirdPartyResources, by
	// the uids of these.
	successors map[string]*definition
}

// add adds an owner, unless its kinds are not served.
func (b *setBuilder) add(o *Owner) {
	b.set.Owners = append(b.set.Owners, o)
	b.set.byUID[o.uid], b.set.stored[o.resource] = o, o
	b.kinds = append(b.kinds, o.compiled...)
}

// addThirdParty adds a ThirdPartyResource, unless a definition serves its instances. One that should,
// and cannot because of its names or its schema, must not take these names away either.
func (b *setBuilder) addThirdParty(o *state.Object) error {
	successor := b.successors[o.UID]
	if successor != nil && successor.verdict.owner != nil {
		return nil
	}
	d := Define(nameOf(o.Key))
	d.Resource = resourceOf(d.Group, d.Plural, o.UID)
	route := qualified(d.Group, d.Plural)
	named := successor == nil && b.names.has(d.Group, d.Plural)
	if b.taken[route] || named || b.groups[d.Group] || len(b.set.Owners)-b.set.definitionsServed == maxServed {
		b.set.unserved++
		return nil
	}
	b.taken[route] = true
	b.names.claimThirdParty(&d)
	owner, err := b.thirdParty(o, d, b.before)
	if err == nil {
		b.add(owner)
	}
	return err
}
