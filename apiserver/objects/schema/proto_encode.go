package schema

import (
	"encoding/binary"
	"slices"
)

// AppendProtobuf appends the object's protobuf encoding without an envelope to dst. For fields that
// upstream has, it writes the same bytes as the public Kubernetes types: fields in the order of
// their numbers, map entries in the order of their keys, and fields that are not pointers even if
// they are zero. kind and apiVersion are part of the envelope. dst is grown at most once.
func (o *Object) AppendProtobuf(dst []byte) []byte {
	return appendWire(dst, o.Kind.Message.wireTop, o.root.box.kids)
}

// AppendProtobuf appends the protobuf encoding, without an envelope, of a message that is not an
// object of a kind, such as a Status. For an unset value it appends nothing.
func (v *Value) AppendProtobuf(dst []byte) []byte {
	if v == nil {
		return dst
	}
	return appendWire(dst, v.typ.message.wireTop, v.box.kids)
}

func appendWire(dst []byte, m *wireMessage, kids []*Value) []byte {
	return writeWire(dst, m.size(kids), m, kids)
}

// writeWire appends a message whose encoded size is size.
func writeWire(dst []byte, size int, m *wireMessage, kids []*Value) []byte {
	out := slices.Grow(dst, size)[:len(dst)+size]
	w := wireWriter{out: out, at: len(out)}
	w.message(m, kids)
	return out
}

// wireWriter writes protobuf backwards, from the end of out to its beginning, because the length of
// a message precedes its content and is known only after the content. out must have exactly the
// size of the encoding.
type wireWriter struct {
	out []byte
	at  int // start of the part of out that is written
}

func (w *wireWriter) varint(n uint64) {
	w.at -= sizeVarint(n)
	binary.PutUvarint(w.out[w.at:], n)
}

func (w *wireWriter) text(s string) {
	w.at -= len(s)
	copy(w.out[w.at:], s)
}

// begin writes the key and length of the content between at and end.
func (w *wireWriter) begin(key uint64, end int) {
	w.varint(uint64(end - w.at))
	w.varint(key)
}

func (w *wireWriter) message(m *wireMessage, kids []*Value) {
	if kids == nil && m.zero != nil {
		w.at -= len(m.zero)
		copy(w.out[w.at:], m.zero)
		return
	}
	for i := len(m.fields) - 1; i >= 0; i-- {
		w.field(&m.fields[i], kids)
	}
}

func (w *wireWriter) field(f *wireField, kids []*Value) {
	end := w.at
	if f.inside != nil {
		w.message(f.inside, kids)
		w.begin(f.key, end)
		return
	}
	v := f.of(kids)
	if !f.written(v) {
		return
	}
	t := f.field.Type
	switch {
	case f.field.Spec.ProtoListWrapper:
		w.items(v, t.elem, firstInsideEntry<<wireTypeBits|t.elem.wireType())
		w.begin(f.key, end)
	case t.Form == FormList:
		w.items(v, t.elem, f.key)
	case t.Form == FormMap:
		w.entries(v, t.elem, f.key)
	default:
		w.value(f.key, t, v)
	}
}

func (w *wireWriter) items(v *Value, elem *Type, key uint64) {
	for _, item := range slices.Backward(v.box.kids) {
		w.value(key, elem, item)
	}
}

func (w *wireWriter) entries(v *Value, elem *Type, key uint64) {
	for i := len(v.box.keys) - 1; i >= 0; i-- {
		end := w.at
		w.value(secondInside<<wireTypeBits|elem.wireType(), elem, v.box.kids[i])
		w.sized(firstInsideEntry<<wireTypeBits|wireBytes, v.box.keys[i])
		w.begin(key, end)
	}
}

// value writes a value with its key. nil stands for the zero value of the type.
func (w *wireWriter) value(key uint64, t *Type, v *Value) {
	switch key & wireTypeMask {
	case wireVarint:
		w.varint(uint64(v.Int()))
		w.varint(key)
	case wireFixed64:
		w.at -= 8
		binary.LittleEndian.PutUint64(w.out[w.at:], uint64(v.Int()))
		w.varint(key)
	default:
		end := w.at
		w.body(t, v)
		w.begin(key, end)
	}
}

func (w *wireWriter) body(t *Type, v *Value) {
	switch t.Form {
	case FormMessage:
		if v == nil {
			w.message(t.message.wire, nil)
			return
		}
		w.message(t.message.wire, v.box.kids)
	case FormTime:
		if v != nil { // an unset time is an empty message
			w.number(secondInside, 0)
			w.number(firstInsideEntry, v.num)
		}
	case FormMicroTime:
		if v != nil {
			t := v.Time()
			w.number(secondInside, int64(t.Nanosecond()))
			w.number(firstInsideEntry, t.Unix())
		}
	case FormQuantity:
		w.sized(firstInsideEntry<<wireTypeBits|wireBytes, quantityOf(v))
	case FormIntOrString:
		w.sized(thirdInside<<wireTypeBits|wireBytes, v.Str())
		w.number(secondInside, v.Int())
		w.number(firstInsideEntry, textFlag(v))
	case FormRaw:
		if t.tree != nil {
			w.message(t.tree.message.wire, v.tree(t).box.kids)
			return
		}
		if s := rawText(v); s != "" {
			w.sized(firstInsideEntry<<wireTypeBits|wireBytes, s)
		}
	default:
		w.text(v.Str())
	}
}

func (w *wireWriter) number(number uint64, n int64) {
	w.varint(uint64(n))
	w.varint(number<<wireTypeBits | wireVarint)
}

func (w *wireWriter) sized(key uint64, s string) {
	end := w.at
	w.text(s)
	w.begin(key, end)
}

// textFlag returns the type field of an encoded intOrString: 0 for a number, 1 for text.
func textFlag(v *Value) int64 {
	if v.IsText() {
		return 1
	}
	return 0
}
