package schema

// Export prepares a stored object as if a client had sent it for a create: it removes the fields
// that only the server sets and those that a create resets. Unless exact is set, it also removes
// what belongs to this cluster: the namespace, a generated name and the status (B9, B10).
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
