package schema

import "slices"

// PrepareCreate prepares an object that a client sent for creation: it clears the fields that only
// the server sets (A7, A24-A26), runs the kind's hooks and the defaults, and sets the generation to
// 1 if the kind has one. The caller sets the name before, and uid and creationTimestamp after it.
func (k *Kind) PrepareCreate(o *Object) {
	s := &k.slots
	for _, slot := range [...]int{s.selfLink, s.uid, s.resourceVersion, s.generation, s.creationTimestamp, s.deletionTimestamp,
		s.deletionGracePeriodSeconds, s.clusterName} {
		o.clearMeta(slot)
	}
	if !k.Namespaced {
		o.clearMeta(s.namespace)
	}
	dedupeOwners(o)
	if k.custom != nil {
		k.prepareCustom(Create, o, nil)
	}
	k.run(k.hooks.prepare[Create], Create, o, nil)
	if k.Strategy.Generation {
		o.SetGeneration(1)
	}
}

// PrepareUpdate prepares an object that a client sent to replace old: it copies the fields that
// only the server sets from old (E6, E13), runs the kind's hooks and the defaults, and increments
// the generation if the kind has one and the spec has changed. It keeps the client's
// resourceVersion and uid; a missing uid is that of old.
func (k *Kind) PrepareUpdate(op Operation, o, old *Object) {
	if k.custom != nil {
		k.prepareCustom(op, o, old)
	}
	s := &k.slots
	for _, slot := range [...]int{s.selfLink, s.generation, s.creationTimestamp, s.deletionTimestamp,
		s.deletionGracePeriodSeconds, s.clusterName} {
		o.keepMeta(slot, old)
	}
	if o.UID() == "" {
		o.keepMeta(s.uid, old)
	}
	if !k.Namespaced {
		o.clearMeta(s.namespace)
	}
	dedupeOwners(o)
	k.run(k.hooks.prepare[op], op, o, old)
	if k.Strategy.Generation && k.respecified(op, o, old) {
		o.SetGeneration(old.Generation() + 1)
	}
}

// respecified reports whether an update changes what the generation counts: the spec, or in a
// custom kind everything besides the metadata and a status that is a subresource.
func (k *Kind) respecified(op Operation, o, old *Object) bool {
	if k.custom != nil {
		return op != UpdateStatus && !sameMembers(o.root, old.root)
	}
	at := k.slots.spec
	return at >= 0 && !Equal(o.root.box.kids[at], old.root.box.kids[at])
}

// Canonicalize converts a valid object to the kind's canonical form. It is the last step before
// Encode.
func (k *Kind) Canonicalize(op Operation, o, old *Object) {
	if len(k.hooks.canonicalize) == 0 {
		return
	}
	c := newContext(k, op, o, old)
	for _, step := range k.hooks.canonicalize {
		step(c)
	}
	c.end()
}

func (k *Kind) run(steps []Step, op Operation, o, old *Object) {
	c := newContext(k, op, o, old)
	for _, step := range steps {
		step(c)
	}
	c.setDefaults()
	c.end()
}

// keepMeta copies a field of the metadata from old.
func (o *Object) keepMeta(slot int, old *Object) {
	v := old.meta(slot)
	if v == nil {
		o.clearMeta(slot)
		return
	}
	o.makeMeta(slot)
	o.Metadata().box.kids[slot] = v.Copy()
}

// DuplicateOwners returns the uids that more than one owner reference has. It must be called before
// PrepareCreate or PrepareUpdate, which keep only the first reference with each uid (A23).
func (o *Object) DuplicateOwners() []string {
	var shared []string
	o.eachDuplicateOwner(func(_ int, uid string) {
		if !slices.Contains(shared, uid) {
			shared = append(shared, uid)
		}
	})
	return shared
}

// dedupeOwners keeps the first owner reference with each uid.
func dedupeOwners(o *Object) {
	owners := o.OwnerReferences()
	if owners.Len() < 2 {
		return
	}
	kept := slices.Clone(owners.box.kids)
	o.eachDuplicateOwner(func(i int, _ string) { kept[i] = nil })
	owners.box.kids = slices.DeleteFunc(kept, func(v *Value) bool { return v == nil })
}

func (o *Object) eachDuplicateOwner(fn func(i int, uid string)) {
	owners := o.OwnerReferences()
	if owners.Len() < 2 {
		return
	}
	seen := make(map[string]bool, owners.Len())
	for i, owner := range owners.Items() {
		uid := owner.Field("uid").Str()
		if uid != "" && seen[uid] {
			fn(i, uid)
		}
		seen[uid] = true
	}
}
