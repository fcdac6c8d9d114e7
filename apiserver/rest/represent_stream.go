package rest

import (
	"time"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/rest/watch"
	"quorate/apiserver/wire/negotiate"
)

// representStream negotiates the representation of objects in a watch stream (D8).
func (r *resource) representStream(c *route.Call) (representation, error) {
	form, target, err := c.ChooseStream(r.variants.streams)
	if err != nil || target == (negotiate.Target{}) {
		return representation{form: form}, err
	}
	return r.turned(c, form, target)
}

// streamed returns the kind of the objects that a stream sends and the encoder that converts
// objects to it, which is nil if they are not converted.
func (r *resource) streamed(as *representation) (*schema.Kind, watch.Encoder, watch.Table) {
	switch {
	case as.whole():
		return r.kind, nil, watch.Table{}
	case as.rows == nil:
		return as.partial, partialObjects{as.partial, r.kind, as.form.Binary()}, watch.Table{}
	}
	return as.partial, *as.rows, watch.Table{
		First: string(as.rows.AppendHead(nil, true)), Later: string(as.rows.AppendHead(nil, false)),
	}
}

// partialObjects is an encoder that reduces objects to their metadata.
type partialObjects struct {
	kind, of *schema.Kind
	binary   bool
}

// Append implements watch.Encoder.
func (p partialObjects) Append(dst, value []byte, _ time.Time) ([]byte, error) {
	if !p.binary {
		return p.kind.AppendPartial(dst, value, p.of)
	}
	object, err := p.kind.AppendPartial(nil, value, p.of)
	if err != nil {
		return dst, err
	}
	return negotiate.AppendProtobuf(dst, object, p.kind)
}

// Ages implements watch.Encoder.
func (p partialObjects) Ages() bool { return false }
