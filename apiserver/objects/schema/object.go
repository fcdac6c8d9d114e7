package schema

import "time"

// Object is a decoded object of a kind. It must be used by one goroutine only.
type Object struct {
	Kind   *Kind
	root   *Value
	others []indexedValue // set by Storable
}

// New returns an empty object of the kind.
func (k *Kind) New() *Object { return &Object{Kind: k, root: k.Message.typ.New()} }

// Root returns the object's top message.
func (o *Object) Root() *Value { return o.root }

// Copy returns a deep copy of the object.
func (o *Object) Copy() *Object { return &Object{Kind: o.Kind, root: o.root.Copy(), others: o.others} }

// Field returns a field of the top message.
func (o *Object) Field(name string) *Value { return o.root.Field(name) }

// Metadata returns the metadata; nil when there is none.
func (o *Object) Metadata() *Value { return o.root.box.kids[o.Kind.slots.metadata] }

// meta returns the field of the metadata at a slot, or nil.
func (o *Object) meta(slot int) *Value {
	m := o.Metadata()
	if m == nil {
		return nil
	}
	return m.box.kids[slot]
}

// makeMeta returns the field of the metadata at a slot. It creates the field and the metadata if
// they are unset.
func (o *Object) makeMeta(slot int) *Value {
	root := o.root.box.kids
	m := root[o.Kind.slots.metadata]
	if m == nil {
		m = o.Kind.slots.metaType.New()
		root[o.Kind.slots.metadata] = m
	}
	if m.box.kids[slot] == nil {
		m.box.kids[slot] = o.Kind.slots.metaType.message.fields[slot].Type.New()
	}
	return m.box.kids[slot]
}

func (o *Object) clearMeta(slot int) {
	if m := o.Metadata(); m != nil {
		m.box.kids[slot] = nil
	}
}

// setMeta sets a string of the metadata; "" unsets it.
func (o *Object) setMeta(slot int, s string) {
	if s == "" {
		o.clearMeta(slot)
		return
	}
	o.makeMeta(slot).str = s
}

func (o *Object) Name() string            { return o.meta(o.Kind.slots.name).Str() }
func (o *Object) GenerateName() string    { return o.meta(o.Kind.slots.generateName).Str() }
func (o *Object) Namespace() string       { return o.meta(o.Kind.slots.namespace).Str() }
func (o *Object) SelfLink() string        { return o.meta(o.Kind.slots.selfLink).Str() }
func (o *Object) UID() string             { return o.meta(o.Kind.slots.uid).Str() }
func (o *Object) ResourceVersion() string { return o.meta(o.Kind.slots.resourceVersion).Str() }
func (o *Object) ClusterName() string     { return o.meta(o.Kind.slots.clusterName).Str() }

func (o *Object) SetName(s string)            { o.setMeta(o.Kind.slots.name, s) }
func (o *Object) SetGenerateName(s string)    { o.setMeta(o.Kind.slots.generateName, s) }
func (o *Object) SetNamespace(s string)       { o.setMeta(o.Kind.slots.namespace, s) }
func (o *Object) SetSelfLink(s string)        { o.setMeta(o.Kind.slots.selfLink, s) }
func (o *Object) SetUID(s string)             { o.setMeta(o.Kind.slots.uid, s) }
func (o *Object) SetResourceVersion(s string) { o.setMeta(o.Kind.slots.resourceVersion, s) }
func (o *Object) SetClusterName(s string)     { o.setMeta(o.Kind.slots.clusterName, s) }

// Generation returns the generation, which counts changes of the spec; 0 if unset.
func (o *Object) Generation() int64 { return o.meta(o.Kind.slots.generation).Int() }

// SetGeneration sets the generation; 0 unsets it.
func (o *Object) SetGeneration(n int64) {
	if n == 0 {
		o.clearMeta(o.Kind.slots.generation)
		return
	}
	o.makeMeta(o.Kind.slots.generation).num = n
}

// CreationTimestamp returns the creation time, or the zero time if unset.
func (o *Object) CreationTimestamp() time.Time { return o.meta(o.Kind.slots.creationTimestamp).Time() }

// SetCreationTimestamp sets the creation time, truncated to seconds.
func (o *Object) SetCreationTimestamp(t time.Time) {
	o.makeMeta(o.Kind.slots.creationTimestamp).SetTime(t)
}

// DeletionTimestamp returns the time at which the object may be removed. ok reports whether the
// object is being deleted.
func (o *Object) DeletionTimestamp() (t time.Time, ok bool) {
	v := o.meta(o.Kind.slots.deletionTimestamp)
	return v.Time(), v != nil
}

// SetDeletion marks the object as being deleted at t, after a grace period in seconds.
func (o *Object) SetDeletion(t time.Time, graceSeconds int64) {
	o.makeMeta(o.Kind.slots.deletionTimestamp).SetTime(t)
	o.makeMeta(o.Kind.slots.deletionGracePeriodSeconds).num = graceSeconds
}

// DeletionGracePeriodSeconds returns the grace period. ok reports whether the object is being
// deleted.
func (o *Object) DeletionGracePeriodSeconds() (seconds int64, ok bool) {
	v := o.meta(o.Kind.slots.deletionGracePeriodSeconds)
	return v.Int(), v != nil
}

// Labels returns the labels, a map of strings; nil when there are none.
func (o *Object) Labels() *Value { return o.meta(o.Kind.slots.labels) }

// Annotations returns the annotations, a map of strings; nil when there are none.
func (o *Object) Annotations() *Value { return o.meta(o.Kind.slots.annotations) }

// OwnerReferences returns the list of owners; nil when there are none.
func (o *Object) OwnerReferences() *Value { return o.meta(o.Kind.slots.ownerReferences) }

// Finalizers returns the list of finalizers; nil when there are none.
func (o *Object) Finalizers() *Value { return o.meta(o.Kind.slots.finalizers) }

// MakeFinalizers returns the list of finalizers for appending to. It creates the list if it is
// unset.
func (o *Object) MakeFinalizers() *Value { return o.makeMeta(o.Kind.slots.finalizers) }

// Initializers returns the initializers; nil when there are none.
func (o *Object) Initializers() *Value { return o.meta(o.Kind.slots.initializers) }

// ManagedFields returns the list of entries that say who owns which fields; nil when there is none,
// which differs from an empty list only in what a client sent.
func (o *Object) ManagedFields() *Value { return o.meta(o.Kind.slots.managedFields) }

// MakeManagedFields returns the list of managed fields for appending to, without entries.
func (o *Object) MakeManagedFields() *Value {
	o.ClearManagedFields()
	return o.makeMeta(o.Kind.slots.managedFields)
}

// KeepManagedFields copies the managed fields of old.
func (o *Object) KeepManagedFields(old *Object) { o.keepMeta(o.Kind.slots.managedFields, old) }

// ClearManagedFields removes the managed fields.
func (o *Object) ClearManagedFields() { o.clearMeta(o.Kind.slots.managedFields) }

// metaSlots holds the slots of the fields that the server itself reads or sets.
type metaSlots struct {
	metaType *Type
	metadata int // in the root message, as the next four
	kind     int
	version  int // apiVersion
	spec     int // -1 if there is none
	status   int // -1 if there is none

	name, generateName, namespace, selfLink, uid, resourceVersion, generation, creationTimestamp,
	deletionTimestamp, deletionGracePeriodSeconds, labels, annotations, ownerReferences, initializers,
	finalizers, clusterName, managedFields int
}
