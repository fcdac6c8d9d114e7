package schema

// Export turns a stored object into one that a client could create: what only the server sets is
// cleared, and what creating resets. Unless it is to be exact, what ties it to this cluster goes
// too: the namespace, a generated name, the status (B9, B10).
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
