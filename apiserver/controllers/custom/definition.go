package custom

import (
	"cmp"
	"fmt"
	"strings"
	"sync/atomic"

	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
	"quorate/raftstore/state"
)

// maxDefinitions limits the CustomResourceDefinitions. More are refused; if there are more all the
// same, because they were created at the same time, the oldest are served.
const maxDefinitions = 1000

// definition is what a set needs to know of a CustomResourceDefinition. It is immutable.
type definition struct {
	version // that was read
	object  *state.Object

	group           string
	asked, accepted names // of the spec, and of the status
	conditions      []condition
	established     bool // says the status
	terminating     bool
	cleans          bool // it has the cleanup finalizer
	unreadable      bool // the certificates of its conversion webhook are still to be filled in
	generation      int64
	approval        condition // no condition if the group needs no approval
	verdict         verdict

	inherits    string        // uid of the ThirdPartyResource whose instances it has taken over, or ""
	predecessor *state.Object // that ThirdPartyResource, as long as it exists
	// disinherited means that it was deleted before the definition was created.
	disinherited bool
}

// storage returns the uid under which the instances are stored.
func (d *definition) storage() string { return cmp.Or(d.inherits, d.uid) }

// verdict is what a set makes of a definition among the others.
type verdict struct {
	accepted names
	conflict conflict // why not all names are accepted
	refusal  conflict // why the kinds are not served, if not because of a conflict
	owner    *Owner   // nil if the kinds are not served
}

// content is what determines the kinds that a definition defines.
type content struct {
	generation  int64
	terminating bool
	names       names
}

func (c *content) equal(other *content) bool {
	return c.generation == other.generation && c.terminating == other.terminating && c.names.equal(&other.names)
}

// read returns what a set needs to know of a CustomResourceDefinition, without a verdict.
func (f *factory) read(o *state.Object, before *Set) (*definition, error) {
	if former := before.definition(o.UID); former != nil && former.index == o.Version {
		d := *former
		d.verdict, d.predecessor, d.disinherited = verdict{}, nil, false
		return &d, nil
	}
	decoded, err := f.definition.DecodeStored(o.Value)
	if err != nil {
		return nil, fmt.Errorf("decode CustomResourceDefinition %s: %w", nameOf(o.Key), err)
	}
	root := decoded.Root()
	d := &definition{
		version: version{o.UID, o.Version}, object: o, group: text(root.Field("spec"), "group"), generation: decoded.Generation(),
		asked: namesOf(root.Lookup("spec", "names")), accepted: namesOf(root.Lookup("status", "acceptedNames")),
		inherits: strings.Clone(validation.InstancesOf(decoded)), conditions: conditionsOf(root), established: validation.Established(root), cleans: deletion.HasFinalizer(decoded, f.definition.Strategy.CleanupFinalizer),
	}
	d.unreadable = validation.UnreadableCABundle(root)
	_, d.terminating = decoded.DeletionTimestamp()
	if a, needed := validation.ApprovalOf(decoded); needed {
		d.approval = condition{conditionApproval, a.Status, a.Reason, a.Message}
	}
	return d, nil
}

// definition returns the CustomResourceDefinition with a uid, or nil.
func (s *Set) definition(uid string) *definition { return s.definitionsByUID[uid] }

// addDefinition adds a CustomResourceDefinition. Its kinds are served as soon as its names are
// accepted, and then for as long as it exists.
func (b *setBuilder) addDefinition(d *definition) {
	v := &d.verdict
	v.accepted, v.conflict = b.names.accept(d)
	route := qualified(d.group, d.asked.plural)
	switch {
	case v.conflict != (conflict{}) && !d.established:
		return
	case b.groups[d.group]:
		v.refusal = conflict{"GroupReserved", "the server itself serves the group " + d.group}
		return
	case b.taken[route]:
		v.conflict = conflict{"PluralConflict", fmt.Sprintf("%q is already in use", d.asked.plural)}
		return
	case d.unreadable:
		v.refusal = conflict{"InvalidCABundle", "The conversion webhook CABundle is invalid"}
		return
	case b.set.definitionsServed == maxDefinitions:
		v.refusal = conflict{"LimitReached", fmt.Sprintf("at most %d CustomResourceDefinitions are served", maxDefinitions)}
		return
	}
	owner, err := b.custom(d)
	if err != nil {
		v.refusal = conflict{"InvalidSchema", err.Error()}
		return
	}
	b.taken[route] = true
	b.set.definitionsServed++
	v.owner = owner
	b.add(owner)
}

// custom returns the owner of a CustomResourceDefinition: that of the previous set if the same
// kinds are defined.
func (b *setBuilder) custom(d *definition) (*Owner, error) {
	former := b.before.owner(d.uid)
	now := content{d.generation, d.terminating, d.verdict.accepted}
	if former != nil && former.content.equal(&now) {
		former.index.Store(d.index)
		former.source.Store(d.object)
		return former, nil
	}
	decoded, err := b.definition.DecodeStored(d.object.Value)
	if err != nil {
		return nil, err
	}
	source := &atomic.Pointer[state.Object]{}
	source.Store(d.object)
	custom, err := b.describe(decoded, d, source)
	if err != nil {
		return nil, err
	}
	webhook, err := b.webhook(decoded.Root().Lookup("spec", "conversion"))
	if err != nil {
		return nil, err
	}
	if webhook != nil {
		custom.Converter = webhook
	}
	compiled, err := b.static.Custom(*custom)
	if err != nil {
		return nil, err
	}
	same, err := b.continues(former, decoded, &now)
	if err != nil {
		return nil, err
	}
	if !same {
		former = nil // its watches end: they would go on in the form of its schemas
	}
	owner := newOwner(d.object, custom.Resource, compiled, former)
	owner.Defined, owner.content, owner.source, owner.webhook, owner.inherited = true, now, source, webhook, d.inherits != ""
	for i, v := range decoded.Root().Lookup("spec", "versions").Items() {
		owner.warn(compiled[i], v)
	}
	return owner, nil
}

// continues reports whether a definition defines the same kinds as its former owner, so that
// watches go on. Only its deletion may have begun since.
func (b *setBuilder) continues(former *Owner, decoded *schema.Object, now *content) (bool, error) {
	if former == nil || !former.content.names.equal(&now.names) {
		return false, nil
	}
	before, err := b.definition.DecodeStored(former.source.Load().Value)
	if err != nil {
		return false, err
	}
	return schema.Equal(before.Root().Field("spec"), decoded.Root().Field("spec")), nil
}

// warn sets the warning of a deprecated version.
func (o *Owner) warn(k *schema.Kind, v *schema.Value) {
	if !v.Field("deprecated").Bool() {
		return
	}
	warning := text(v, "deprecationWarning")
	if warning == "" {
		warning = fmt.Sprintf("%s %s is deprecated", k.APIVersion, k.Kind)
	}
	for i := range o.Kinds {
		if o.Kinds[i].Kind == k {
			o.Kinds[i].Warning = warning
		}
	}
}
