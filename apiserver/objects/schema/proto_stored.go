package schema

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"
)

// AppendProtobufEnvelope appends a stored value in its protobuf envelope (B20). value must come
// from Encode, for this kind or the kind that it is a view of; it is not retained. An error means
// that the stored data is invalid and is not the client's fault.
func (k *Kind) AppendProtobufEnvelope(dst, value []byte) ([]byte, error) {
	d := k.decoders.get()
	defer k.decoders.put(d)
	root, err := d.stored(k, value)
	if err != nil {
		return dst, err
	}
	m, kids := k.Message.wireTop, root.box.kids
	size := m.size(kids)
	dst = slices.Grow(dst, EnvelopeSize(k.APIVersion, k.Kind, size))
	dst = EnvelopeHead(dst, k.APIVersion, k.Kind, size)
	return EnvelopeTail(writeWire(dst, size, m, kids)), nil
}

// AppendProtobufItem appends a stored value as an item of a list. Its requirements and errors are
// those of AppendProtobufEnvelope.
func (k *Kind) AppendProtobufItem(dst, value []byte) ([]byte, error) {
	d := k.decoders.get()
	defer k.decoders.put(d)
	root, err := d.stored(k, value)
	if err != nil {
		return dst, err
	}
	m, kids := k.Message.wireTop, root.box.kids
	size := m.size(kids)
	dst = AppendListItemHead(slices.Grow(dst, ListItemSize(size)), size)
	return writeWire(dst, size, m, kids), nil
}

// stored decodes a stored value. The result is valid until the decoder is reset, because its
// strings share the memory of value. A value whose form differs from the kind's is converted.
func (d *decoder) stored(k *Kind, value []byte) (*Value, error) {
	if k.adapts(value) || k.converts && !bytes.HasPrefix(value, []byte(k.prefix)) {
		o, err := k.fromStored(value)
		if err != nil {
			return nil, err
		}
		return o.root, nil
	}
	d.trees = true
	d.s = unsafe.String(unsafe.SliceData(value), len(value))
	root, err := d.document(k.Message.typ)
	if err != nil {
		// Not wrapped: stored bytes that can't be decoded are not the client's fault.
		return nil, errors.New("read a stored object: " + k.describe(err).Error())
	}
	if kind := root.Field("kind").Str(); kind != k.Kind { // an object of another kind would decode to an empty one
		return nil, fmt.Errorf("read a stored %s as one of kind %s", kind, k.Kind)
	}
	if k.renames {
		if link := root.Lookup("metadata", "selfLink"); link.IsSet() {
			link.str = k.relink(link.str)
		}
	}
	return root, nil
}

// decoders is a pool of decoders that reuse their chunks.
type decoders struct{ pool sync.Pool }

func (p *decoders) get() *decoder {
	if d, ok := p.pool.Get().(*decoder); ok {
		return d
	}
	d := &decoder{}
	d.reset()
	return d
}

// put returns a decoder to the pool. Values that it decoded must not be used afterwards.
func (p *decoders) put(d *decoder) {
	d.reset()
	p.pool.Put(d)
}

// Maximum sizes of chunks that a pooled decoder keeps. They suffice for most objects and take some
// hundred KiB together.
const (
	maxKept     = 2 << 10
	maxKeptText = 64 << 10
)

// reset prepares the decoder for another document. It reuses the chunks and clears all references
// to the previous document.
func (d *decoder) reset() {
	*d = decoder{
		scanner: scanner{reused: true, unescaped: reusable(d.unescaped, maxKeptText)},
		values:  reusable(d.values, maxKept),
		slots:   reusable(d.slots, 4*maxKept),
		boxes:   reusable(d.boxes, maxKept/2),
		keys:    reusable(d.keys, maxKept),
		items:   reusable(d.items[:cap(d.items)], maxKept), // these two shrink while a document is read
		names:   reusable(d.names[:cap(d.names)], maxKept),
	}
	d.path = d.pathRoom[:0]
}

// reusable returns a chunk, cleared and with length 0, or nil if its capacity exceeds most.
func reusable[T any](chunk []T, most int) []T {
	if cap(chunk) > most {
		return nil
	}
	clear(chunk)
	return chunk[:0]
}
