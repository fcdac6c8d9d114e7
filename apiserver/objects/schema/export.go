package schema

// Export removes the fields of a stored object that a client could not send on create: those that
// only the server sets and those that a create resets. Unless exact is set, it also removes the
// fields that belong to this cluster: the namespace, a generated name and the status (B9, B10).
func (k *Kind) Export(o *Object, exact bool) {
	if !exact {
		o.SetNamespace("")
		if o.GenerateName() != "" {
			o.SetName("")
		}
		if k.slots.status >= 0 {
			o.root.box.kids[k.slots.status] = nil
		}
	}
	k.PrepareCreate(o)
}
