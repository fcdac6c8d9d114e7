package admission

import (
	"context"
	"errors"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
)

// scaleSubresource is the subresource whose objects have a kind of their own.
const scaleSubresource = "scale"

// form is the form in which a webhook gets objects.
type form struct {
	kind   *schema.Kind // of the resource
	object *schema.Kind // of the objects: kind, or a Scale, which all versions share
}

// formFor returns the form in which a webhook gets the objects of a target as those of k.
func formFor(t *Target, k *schema.Kind) form {
	if t.Subresource == scaleSubresource {
		return form{kind: k, object: t.Kind.Scale}
	}
	return form{kind: k, object: k}
}

// convert returns an object in the form of another kind that serves the same objects; o may be nil.
func convert(ctx context.Context, o *schema.Object, to *schema.Kind) (*schema.Object, error) {
	if o == nil || o.Kind == to {
		return o, nil
	}
	storable, err := o.StorageForm(ctx)
	if err != nil {
		return nil, err
	}
	encoded, _ := stored.Encode(storable)
	out, err := stored.Decode(to, encoded)
	if err != nil {
		return nil, err
	}
	out.SetResourceVersion(o.ResourceVersion())
	return out, nil
}

// decode returns the object that a webhook has patched, in the form of the request. Unknown fields
// are dropped and defaults filled in, as with the body of a client.
func (f form) decode(ctx context.Context, document []byte, before *schema.Object) (*schema.Object, error) {
	o, _, err := f.object.Decode(document)
	if err != nil {
		return nil, errors.New(err.Error()) // not the client's fault
	}
	if o, err = convert(ctx, o, before.Kind); err != nil {
		return nil, err
	}
	o.Kind.Default(o)
	return o, nil
}
