package schema

// Decode reads an object of the kind from JSON a client sent. Fields that the kind does not have are left out and are among the
// problems. Missing kind and apiVersion are filled in. Errors are *DecodeError.
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
	if len(k.hooks.afterDecode) > 0 {
		c := newContext(k, Create, o, nil)
		for _, step := range k.hooks.afterDecode {
			step(c)
		}
	}
	return o, nil
}

// checkIdentity compares kind and apiVersion with the route's (A34-A36).
func (o *Object) checkIdentity(d *decoder) error {
	k := o.Kind
	kind, version := &o.root.box.kids[k.slots.kind], &o.root.box.kids[k.slots.version]
	if (*kind).IsEmpty() {
		*kind = d.value(k.Message.fields[k.slots.kind].Type)
		(*kind).str = k.Kind
	}
	if (*version).IsEmpty() {
		*version = d.value(k.Message.fields[k.slots.version].Type)
		(*version).str = k.APIVersion
	}
	if (*kind).str != k.Kind {
		return &DecodeError{
			Message: k.cannotHandle((*kind).str, (*version).str) + "the kind in the data (" + (*kind).str + ") does not match the expected kind (" + k.Kind + ")",
			Path:    "kind", Offset: -1,
		}
	}
	if (*version).str != k.APIVersion {
		return &DecodeError{
			Message: "the API version in the data (" + (*version).str + ") does not match the expected API version (" + k.APIVersion + ")",
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

// Decode reads a message that is no object of a kind, such as DeleteOptions. nil means null was sent.
func (m *Message) Decode(body []byte) (*Value, Problems, error) {
	d := newDecoder(string(body))
	v, err := d.document(m.typ)
	switch err := err.(type) { //nolint:errorlint // made by the decoder, never wrapped
	case *syntaxError:
		return nil, d.problems, &DecodeError{Message: "couldn't read " + m.Name + ": json parse error: " + err.Error(), Offset: err.offset}
	case *valueError:
		return nil, d.problems, &DecodeError{Message: "couldn't read " + m.Name + ": " + err.text, Path: err.path, Offset: err.offset}
	}
	return v, d.problems, nil
}
