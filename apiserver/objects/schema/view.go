package schema

import (
	"bytes"
	"errors"
	"slices"
)

// A view is a kind whose objects are stored as those of another kind. Either it has another message
// and hooks convert between them, or it has the same message and only the apiVersion, at the
// beginning of the stored bytes, differs.

// Storage returns the kind in whose form objects are stored: the kind itself, unless it is a view
// of another.
func (k *Kind) Storage() *Kind { return k.storage }

// Converts reports whether the kind is a view whose objects are decoded and converted to be served.
func (k *Kind) Converts() bool { return k.converts }

// ToStorage returns the object in the form of the kind it is stored as: itself, unless its kind is
// a view.
func (k *Kind) ToStorage(o *Object) *Object {
	return convert(o, k.storage, k.hooks.toStorage)
}

// FromStorage returns a stored object in the form of this kind: itself, unless this kind is a view.
func (k *Kind) FromStorage(o *Object) *Object {
	return convert(o, k, k.hooks.fromStorage)
}

func convert(o *Object, to *Kind, fn Converter) *Object {
	if o.Kind == to {
		return o
	}
	if o.Kind.Message == to.Message {
		return o.as(to)
	}
	if fn == nil {
		return o
	}
	out := to.New()
	if m := o.Metadata(); m != nil {
		out.root.box.kids[to.slots.metadata] = m.retype(to.slots.metaType)
	}
	fn(o, out)
	return out
}

// as returns the object as another version of its kind. Both share everything below the top
// message.
func (o *Object) as(to *Kind) *Object {
	root := *o.root
	root.box = &box{kids: slices.Clone(o.root.box.kids), keys: o.root.box.keys}
	root.box.kids[to.slots.version] = &Value{typ: to.Message.fields[to.slots.version].Type, str: to.APIVersion}
	return &Object{Kind: to, root: &root}
}

// Present returns a stored value as the kind serves it: unchanged; with the kind's apiVersion if it
// was stored under another one (K10); or decoded and converted. Errors are server errors.
func (k *Kind) Present(value []byte) ([]byte, error) {
	prefix, rest, err := k.Parts(value)
	if err != nil || prefix == "" {
		return rest, err
	}
	out := make([]byte, 0, len(prefix)+len(rest))
	return append(append(out, prefix...), rest...), nil
}

// Parts returns the result of Present in two parts without copying. The first may be empty.
func (k *Kind) Parts(value []byte) (prefix string, rest []byte, err error) {
	switch {
	case !k.renames && !k.converts, bytes.HasPrefix(value, []byte(k.prefix)):
		return "", value, nil
	case k.converts:
		o, err := k.fromStored(value)
		if err != nil {
			return "", nil, err
		}
		return "", o.AppendJSON(nil), nil
	}
	rest = value
	for range 2 { // kind and apiVersion, whose texts hold no commas
		_, rest, _ = bytes.Cut(rest, []byte{','})
	}
	return k.prefix, rest, nil
}

// fromStored reads a stored value of a kind that converts.
func (k *Kind) fromStored(value []byte) (*Object, error) {
	o, err := k.storage.DecodeStored(value)
	if err != nil {
		// Not wrapped: bytes of ours that can't be decoded are no fault of the client.
		return nil, errors.New("read a stored object: " + err.Error())
	}
	return k.FromStorage(o), nil
}
