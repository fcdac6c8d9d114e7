package schema

import (
	"sync"
	"unsafe"
)

// Decode decodes an object of the kind from a client's JSON and runs the kind's afterDecode hooks.
// Fields that the kind does not have are dropped and listed in the problems. A missing kind or
// apiVersion is filled in, unless the kind is schemaless. Objects of a custom kind also get the
// defaults of its schema. The object's strings are parts of body, which must not change any more.
// Errors are *DecodeError.
func (k *Kind) Decode(body []byte) (*Object, Problems, error) {
	d := k.requests.get()
	defer k.requests.put(d)
	d.s, d.reports = unsafe.String(unsafe.SliceData(body), len(body)), true
	o, err := k.decode(d)
	if err == nil && k.custom != nil {
		o, err = k.normalize(o, &d.problems)
	}
	return o, d.problems, err
}

// onceDecoders is a pool of decoders without their chunks, which belong to what they decoded.
type onceDecoders struct{ pool sync.Pool }

func (p *onceDecoders) get() *decoder {
	if d, ok := p.pool.Get().(*decoder); ok {
		return d
	}
	return newDecoder("")
}

func (p *onceDecoders) put(d *decoder) {
	*d = decoder{}
	d.path = d.pathRoom[:0]
	p.pool.Put(d)
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

// afterDecode runs the kind's afterDecode hooks on an object that a client sent.
func (o *Object) afterDecode() {
	if len(o.Kind.hooks.afterDecode) == 0 {
		return
	}
	c := newContext(o.Kind, Create, o, nil)
	for _, step := range o.Kind.hooks.afterDecode {
		step(c)
	}
	c.end()
}

// checkIdentity checks that the object's kind and apiVersion are those of the kind that the route
// serves, and fills in missing ones (A34-A36).
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

// CheckIdentity checks that apiVersion and kind, from a body or its envelope, name this kind
// (A34-A36: a body of another kind or version is 400). Errors are *DecodeError.
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

// DecodeStored decodes an object from bytes that Encode returned. It neither modifies nor retains
// value.
func (k *Kind) DecodeStored(value []byte) (*Object, error) {
	k = k.storedAs(value)
	root, err := newDecoder(string(value)).document(k.Message.typ)
	if err != nil {
		return nil, k.describe(err)
	}
	return &Object{Kind: k, root: root}, nil
}

// Decode decodes a message that is not an object of a kind, such as DeleteOptions. For null it
// returns nil.
func (m *Message) Decode(body []byte) (*Value, Problems, error) {
	d := newDecoder(string(body))
	v, err := d.document(m.typ)
	if err != nil {
		return nil, d.problems, m.describe(err)
	}
	return v, d.problems, nil
}
