package schema

// Default sets each field that the client left out to its default. It is idempotent.
func (k *Kind) Default(o *Object) {
	c := newContext(k, Create, o, nil)
	c.setDefaults()
	c.end()
}

func (c *Context) setDefaults() {
	if c.Kind.Message.defaults {
		c.defaultMessage(c.Object.root)
	}
}

// defaultMessage runs the message's defaulter, sets the defaults of its fields, and then does the
// same for the messages in these fields.
func (c *Context) defaultMessage(v *Value) {
	m := v.typ.message
	if m.defaulter != nil {
		m.defaulter(c, v)
	}
	for i, f := range m.fields {
		if (f.def != nil || f.defaulter != nil) && f.vacant(v.box.kids[i]) {
			c.defaultField(f, v)
		}
	}
	for i, f := range m.fields {
		if f.below == nil || !f.below.defaults {
			continue
		}
		kid := v.box.kids[i]
		if kid == nil {
			if f.pointer || f.Type.Form != FormMessage {
				continue
			}
			kid = f.Type.New() // a message that the client left out still gets its fields' defaults
		}
		c.EnterField(f.Name, kid)
		c.defaultBelow(kid)
		c.Leave()
		if v.box.kids[i] == nil && !encodesAsUnset(kid) {
			v.box.kids[i] = kid
		}
	}
}

// vacant reports whether the default applies: v is unset or, without `pointer`, empty.
func (f *Field) vacant(v *Value) bool {
	if f.pointer {
		return v == nil
	}
	return v.IsEmpty()
}

func (c *Context) defaultField(f *Field, v *Value) {
	if f.defaultIf != nil && !f.defaultIf(c, v) {
		return
	}
	if f.def != nil {
		v.box.kids[f.index] = f.def.Copy()
	}
	if f.defaulter != nil {
		f.defaulter(c, v)
	}
}

// defaultBelow sets defaults in a message, or in each message of a list or map.
func (c *Context) defaultBelow(v *Value) {
	switch v.typ.Form {
	case FormMessage:
		c.defaultMessage(v)
	case FormList:
		for i, item := range v.box.kids {
			c.EnterIndex(i, item)
			c.defaultBelow(item)
			c.Leave()
		}
	case FormMap:
		for i, key := range v.box.keys {
			c.EnterKey(key, v.box.kids[i])
			c.defaultBelow(v.box.kids[i])
			c.Leave()
		}
	}
}

// innermost returns the element type of nested lists and maps, or t itself.
func (t *Type) innermost() *Type {
	for t.elem != nil {
		t = t.elem
	}
	return t
}
