package schema

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"
)

// AppendProtobufEnvelope appends a stored value, in its envelope (B20): bytes that Encode made, in
// the form of this kind or of the one that it is a view of. The value is not kept. Errors are no
// fault of a client.
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

// AppendProtobufItem appends a stored value as an item of a list, as AppendProtobufEnvelope does.
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

// stored reads a stored value for as long as the decoder is not reset. Not even the text is copied,
// but what has another form than the kind's is converted.
func (d *decoder) stored(k *Kind, value []byte) (*Value, error) {
	if k.converts && !bytes.HasPrefix(value, []byte(k.prefix)) {
		o, err := k.fromStored(value)
		if err != nil {
			return nil, err
		}
		return o.root, nil
	}
	d.s = unsafe.String(unsafe.SliceData(value), len(value))
	root, err := d.document(k.Message.typ)
	if err != nil {
		// Not wrapped: bytes of ours that can't be decoded are no fault of the client.
		return nil, errors.New("read a stored object: " + k.describe(err).Error())
	}
	if kind := root.Field("kind").Str(); kind != k.Kind { // another document would come out empty
		return nil, fmt.Errorf("read a stored %s as one of kind %s", kind, k.Kind)
	}
	return root, nil
}

// decoders are decoders at rest, whose chunks are filled again and again.
type decoders struct{ pool sync.Pool }

func (p *decoders) get() *decoder {
	if d, ok := p.pool.Get().(*decoder); ok {
		return d
	}
	d := &decoder{}
	d.reset()
	return d
}

// put takes a decoder back. Nothing that it has read may be used any more.
func (p *decoders) put(d *decoder) {
	d.reset()
	p.pool.Put(d)
}

// Sizes of chunks that are kept: enough for most objects, some hundred KiB together.
const (
	maxKept     = 2 << 10
	maxKeptText = 64 << 10
)

// reset makes the decoder ready for another document, in the memory of the one before. It holds on
// to nothing of that.
func (d *decoder) reset() {
	*d = decoder{
		scanner: scanner{reused: true, unescaped: emptied(d.unescaped, maxKeptText)},
		values:  emptied(d.values, maxKept),
		slots:   emptied(d.slots, 4*maxKept),
		boxes:   emptied(d.boxes, maxKept/2),
		keys:    emptied(d.keys, maxKept),
		items:   emptied(d.items[:cap(d.items)], maxKept), // these two shrink while a document is read
		names:   emptied(d.names[:cap(d.names)], maxKept),
	}
	d.path = d.pathRoom[:0]
}

// emptied returns a chunk that can be filled again, or none when it is too large to be kept.
func emptied[T any](chunk []T, most int) []T {
	if cap(chunk) > most {
		return nil
	}
	clear(chunk)
	return chunk[:0]
}
