package schema

// Decode reads an object of the kind from JSON a client sent. Fields that the kind does not have
// are left out and are among the problems. Missing kind and apiVersion are filled in. Errors are
// *DecodeError.
func (k *Kind) Decode(body []byte) (*Object, Problems, error) {
	d := newDecoder(string(body))
	o, err := k.decode(d)
	return o, d.problems, err
}

func (k *Kind) decode(d *decoder) (*Object, error) {
	if d.space() == 0 && d.pos >= len(d.s) {
		return nil, &DecodeError{Message: "the object provided is unrecognized (must be of type " + k.Kind + "): EOF, no data", Offset: -1}
	}
	d.root = k.Kind
	root, err := d.document(k.Message.typ)
	if err != nil {
		return nil, k.describe(err)
	}
	if root == nil { // null
		root = k.Message.typ.New()
	}
	o := &Object{Kind: k, root: root}
	if err := o.checkIdentity(d); err != nil {
		return nil, err
	}
	o.afterDecode()
	return o, nil
}

// afterDecode runs the kind's hooks for what a client sent.
func (o *Object) afterDecode() {
	if len(o.Kind.hooks.afterDecode) == 0 {
		return
	}
	c := newContext(o.Kind, Create, o, nil)
	for _, step := range o.Kind.hooks.afterDecode {
		step(c)
	}
}

// checkIdentity compares kind and apiVersion with the route's (A34-A36).
func (o *Object) checkIdentity(d *decoder) error {
	k := o.Kind
	if err := o.requireIdentity(); err != nil {
		return err
	}
	kind, version := &o.root.box.kids[k.slots.kind], &o.root.box.kids[k.slots.version]
	if (*kind).IsEmpty() {
		*kind = d.value(k.Message.fields[k.slots.kind].Type)
		(*kind).str = k.Kind
	}
	if (*version).IsEmpty() {
		*version = d.value(k.Message.fields[k.slots.version].Type)
		(*version).str = k.APIVersion
	}
	return k.CheckIdentity((*version).str, (*kind).str)
}

// CheckIdentity compares what a body or its envelope says it is with the kind (A34-A36). Errors are
// *DecodeError.
func (k *Kind) CheckIdentity(apiVersion, kind string) error {
	if kind != k.Kind {
		return &DecodeError{
			Message: k.cannotHandle(kind, apiVersion) + "the kind in the data (" + kind + ") does not match the expected kind (" + k.Kind + ")",
			Path:    "kind", Offset: -1,
		}
	}
	if apiVersion != k.APIVersion {
		return &DecodeError{
			Message: "the API version in the data (" + apiVersion + ") does not match the expected API version (" + k.APIVersion + ")",
			Path:    "apiVersion", Offset: -1,
		}
	}
	return nil
}

// DecodeStored reads an object from bytes that Encode made. The value is not changed nor kept.
func (k *Kind) DecodeStored(value []byte) (*Object, error) {
	root, err := newDecoder(string(value)).document(k.Message.typ)
	if err != nil {
		return nil, k.describe(err)
	}
	return &Object{Kind: k, root: root}, nil
}

// Decode reads a message that is no object of a kind, such as DeleteOptions. nil means null was
// sent.
func (m *Message) Decode(body []byte) (*Value, Problems, error) {
	d := newDecoder(string(body))
	v, err := d.document(m.typ)
	if err != nil {
		return nil, d.problems, m.describe(err)
	}
	return v, d.problems, nil
}
