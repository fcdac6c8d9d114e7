package schema

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"quorate/raftstore/state"
)

// Encoded is an object in its stored form. It shares no memory with the object.
type Encoded struct {
	Value         []byte // canonical JSON with an empty resourceVersion
	VersionOffset uint32 // offset in Value at which the version's digits are inserted
	Labels        state.Attributes
	Fields        state.Attributes
	UID           string
}

// Encode returns the object in its stored form. An object of a view must be converted with
// Kind.ToStorage first.
func (o *Object) Encode() Encoded {
	k := o.Kind
	if o.Metadata() == nil { // the resourceVersion must have a place in the JSON
		o.root.box.kids[k.slots.metadata] = k.slots.metaType.New()
	}
	value, offset := k.encodings.encode(o)
	return Encoded{
		Value:         value,
		VersionOffset: uint32(offset),
		Labels:        o.labelAttributes(),
		Fields:        o.fieldAttributes(),
		UID:           string([]byte(o.UID())),
	}
}

// encodings is a pool of buffers for the JSON of objects, whose length is known only once it is
// written: sizeHint is often twice or three times as much. Larger buffers are not kept.
type encodings struct{ pool sync.Pool }

const maxEncodingKept = 16 << 10

// encode returns the JSON of an object with an empty resourceVersion, whose place is offset.
func (p *encodings) encode(o *Object) (value []byte, offset int) {
	w := writer{versionSlot: o.Kind.slots.resourceVersion, metadata: o.Metadata()}
	hint := o.sizeHint()
	if hint > maxEncodingKept {
		w.out = make([]byte, 0, hint)
		w.object(o)
		return w.out, w.versionOffset
	}
	kept, ok := p.pool.Get().(*[]byte)
	if !ok {
		kept = new([]byte)
	}
	w.out = slices.Grow((*kept)[:0], hint)
	w.object(o)
	value = bytes.Clone(w.out)
	if len(w.out) <= maxEncodingKept {
		*kept = w.out
		p.pool.Put(kept)
	}
	return value, w.versionOffset
}

// SameAs reports whether stored differs from e in its resourceVersion only, so that nothing needs
// to be written (E20).
func (e *Encoded) SameAs(stored *state.Object) bool {
	at := int(e.VersionOffset)
	digits := len(stored.Value) - len(e.Value)
	return e.VersionOffset == stored.VersionOffset && digits >= 0 &&
		bytes.Equal(e.Value[:at], stored.Value[:at]) && bytes.Equal(e.Value[at:], stored.Value[at+digits:])
}

// AppendJSON appends the object's canonical JSON, including its resourceVersion, to dst.
func (o *Object) AppendJSON(dst []byte) []byte {
	w := writer{out: dst}
	w.object(o)
	return w.out
}

// AppendJSON appends the value's canonical JSON to dst.
func (v *Value) AppendJSON(dst []byte) []byte {
	if v == nil {
		return append(dst, "null"...)
	}
	w := writer{out: dst}
	w.value(v)
	return w.out
}

const (
	objectOverhead = 512 // bytes of names and punctuation in a small object
	wordOverhead   = 24  // bytes of a member's name and punctuation
)

// sizeHint estimates the length of the object's JSON.
func (o *Object) sizeHint() int { return objectOverhead + o.root.size() }

func (v *Value) size() int {
	if v == nil {
		return 0
	}
	n := wordOverhead + len(v.str)
	if v.box != nil {
		for _, kid := range v.box.kids {
			n += kid.size()
		}
		for _, key := range v.box.keys {
			n += len(key)
		}
	}
	return n
}

// writer writes canonical JSON. It writes the resourceVersion of the message metadata as "" and
// records its offset in versionOffset.
type writer struct {
	out           []byte
	metadata      *Value
	versionSlot   int
	versionOffset int
}

// object writes an object: the kind and apiVersion of its kind, then the other fields in declared
// order.
func (w *writer) object(o *Object) {
	w.out = append(w.out, o.Kind.prefix...)
	m := o.Kind.Message
	for i := 2; i < len(m.fields); i++ {
		w.field(m.fields[i], o.root.box.kids[i])
	}
	w.openMembers(o.root)
	w.close('}')
}

// close ends an object or array: the bracket replaces the comma after the last member.
func (w *writer) close(bracket byte) {
	if last := len(w.out) - 1; w.out[last] == ',' {
		w.out[last] = bracket
		return
	}
	w.out = append(w.out, bracket)
}

// field writes a member with a comma, or nothing if the field is omitted.
func (w *writer) field(f *Field, v *Value) {
	if f.omits(v) {
		return
	}
	w.out = append(w.out, f.keyJSON...)
	if v == nil {
		w.empty(f)
	} else {
		w.value(v)
	}
	w.out = append(w.out, ',')
}

// omits reports whether the encoding omits the field if it has value v, which is nil if it is
// unset.
func (f *Field) omits(v *Value) bool {
	return v == nil && !f.always || v != nil && !f.always && !f.pointer && omitted(v)
}

// omitted reports whether the encoding omits a value of a field that has neither `pointer` nor
// `emit`.
func omitted(v *Value) bool {
	if v.typ.Form == FormMessage {
		return encodesAsUnset(v)
	}
	return v.IsEmpty()
}

// empty writes the value of an unset field that is always written.
func (w *writer) empty(f *Field) {
	switch {
	case f.pointer:
		w.out = append(w.out, "null"...)
	case f.Type.Form == FormMessage:
		w.out = append(w.out, f.Type.message.zero...)
	case f.Type.Form == FormString:
		w.out = append(w.out, `""`...)
	case f.Type.Form == FormQuantity:
		w.out = append(w.out, `"0"`...)
	case f.Type.Form == FormBool:
		w.out = append(w.out, "false"...)
	case f.Type.Form >= FormInt32 && f.Type.Form <= FormDouble, f.Type.Form == FormIntOrString:
		w.out = append(w.out, '0')
	default:
		w.out = append(w.out, "null"...)
	}
}

// value writes a value that is set.
func (w *writer) value(v *Value) {
	switch v.typ.Form {
	case FormMessage:
		w.message(v)
	case FormList:
		w.out = append(w.out, '[')
		for _, item := range v.box.kids {
			w.value(item)
			w.out = append(w.out, ',')
		}
		w.close(']')
	case FormMap:
		w.out = append(w.out, '{')
		for i, key := range v.box.keys {
			w.out = append(AppendString(w.out, key), ':')
			w.value(v.box.kids[i])
			w.out = append(w.out, ',')
		}
		w.close('}')
	default:
		w.out = appendScalar(w.out, v)
	}
}

func appendScalar(out []byte, v *Value) []byte {
	switch v.typ.Form {
	case FormBool:
		return strconv.AppendBool(out, v.num != 0)
	case FormInt32, FormInt64, FormUint32:
		return strconv.AppendInt(out, v.num, 10)
	case FormDouble:
		return appendFloat(out, v.Float())
	case FormBytes:
		out = append(out, '"')
		out = base64.StdEncoding.AppendEncode(out, []byte(v.str))
		return append(out, '"')
	case FormTime, FormMicroTime:
		out = append(out, '"')
		out = v.Time().AppendFormat(out, v.typ.timeLayout())
		return append(out, '"')
	case FormIntOrString:
		if v.box != textual {
			return strconv.AppendInt(out, v.num, 10)
		}
		return AppendString(out, v.str)
	case FormRaw:
		return append(out, v.str...)
	default:
		return AppendString(out, v.str)
	}
}

func (w *writer) message(v *Value) {
	if v.typ.message.Spec.Union {
		w.union(v)
		return
	}
	w.out = append(w.out, '{')
	for i, f := range v.typ.message.fields {
		if w.metadata == v && i == w.versionSlot {
			w.out = append(w.out, f.keyJSON...)
			w.out = append(w.out, `"",`...)
			w.versionOffset = len(w.out) - len(`",`)
			continue
		}
		w.field(f, v.box.kids[i])
	}
	w.openMembers(v)
	w.close('}')
}

func appendMessage(dst []byte, v *Value) []byte {
	w := writer{out: dst}
	w.message(v)
	return w.out
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. It escapes only what JSON requires, and U+2028 and
// U+2029, which end a line in JavaScript. It replaces invalid UTF-8 by U+FFFD.
func AppendString(out []byte, s string) []byte {
	out = append(out, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plainByte[c] {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			out = append(out, s[start:i]...)
			out = appendEscape(out, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			out = append(out, s[start:i]...)
			out = append(out, "\ufffd"...)
			start = i + size
		case r == '\u2028' || r == '\u2029':
			out = append(out, s[start:i]...)
			out = append(out, `\u202`...)
			out = append(out, hexDigits[r&0xf])
			start = i + size
		}
		i += size
	}
	out = append(out, s[start:]...)
	return append(out, '"')
}

func appendEscape(out []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(out, '\\', c)
	case '\n':
		return append(out, '\\', 'n')
	case '\r':
		return append(out, '\\', 'r')
	case '\t':
		return append(out, '\\', 't')
	}
	return append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}
