package schema

import (
	"cmp"
	"fmt"
	"slices"
)

// OwnNumbers is the first field number for fields that no upstream message has: those that only the
// specification names, and kind and apiVersion in embedded messages. They are encoded only if they
// are set, so that an object without them encodes to the same bytes as upstream.
const OwnNumbers = 1001

// Wire types of protobuf.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireGroup   = 3
	wireEnd     = 4
	wireFixed32 = 5
)

const (
	maxNumber        = 1<<29 - 1
	firstReserved    = 19000 // reserved by protobuf
	lastReserved     = 19999
	wireTypeBits     = 3
	wireTypeMask     = 1<<wireTypeBits - 1
	firstInsideEntry = 1 // field numbers in map entries, list wrappers, quantities and other small messages
	secondInside     = 2
	thirdInside      = 3
)

// wireMessage is the protobuf layout of a message: its fields sorted by number.
type wireMessage struct {
	fields []wireField
	zero   []byte // encoding of the message with no field set
}

// wireField is a field of the protobuf layout: either a field of the message, or a wrapper message
// that contains several of its fields (protoWrap).
type wireField struct {
	number  int
	key     uint64 // number and wire type
	keySize int
	field   *Field       // nil for a wrapper
	inside  *wireMessage // the fields of a wrapper
	own     bool         // upstream does not have the field
}

func newWireField(number int, wire uint64) wireField {
	key := uint64(number)<<wireTypeBits | wire
	return wireField{number: number, key: key, keySize: sizeVarint(key), own: number >= OwnNumbers}
}

// wireType returns the wire type of a value of type t, or of one item if t is a list.
func (t *Type) wireType() uint64 {
	switch t.Form {
	case FormBool, FormInt32, FormInt64, FormUint32:
		return wireVarint
	case FormDouble:
		return wireFixed64
	case FormList:
		return t.elem.wireType()
	}
	return wireBytes
}

func wireName(wire uint64) string {
	switch wire {
	case wireVarint:
		return "varint"
	case wireFixed64:
		return "fixed64"
	}
	return "bytes"
}

// compileWire computes the message's protobuf layout. Fields without a number are not part of it.
func (m *Message) compileWire() error {
	m.wire = &wireMessage{}
	for _, f := range m.fields {
		if f.Spec.Proto == 0 {
			continue
		}
		if f.Spec.ProtoWrap != 0 && m.Spec.ProtoWrapper == "" {
			return fmt.Errorf("field %s: protoWrap: the message has no protoWrapper", f.Name)
		}
		if err := m.wire.addField(f); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	if err := m.wire.sort(); err != nil {
		return err
	}
	m.wireTop = m.wire
	if m.ownTypeMeta() {
		m.wireTop = &wireMessage{fields: slices.DeleteFunc(slices.Clone(m.wire.fields), func(f wireField) bool {
			return f.own && f.field.isTypeMeta()
		})}
	}
	return nil
}

// isTypeMeta reports whether the field is kind or apiVersion. In a top-level object the protobuf
// envelope contains these two.
func (f *Field) isTypeMeta() bool { return f.Name == "kind" || f.Name == "apiVersion" }

func (m *Message) ownTypeMeta() bool {
	return slices.ContainsFunc(m.wire.fields, func(f wireField) bool { return f.own && f.field.isTypeMeta() })
}

func (w *wireMessage) addField(f *Field) error {
	s := f.Spec
	for _, n := range [...]int{s.Proto, max(s.ProtoWrap, 1)} {
		if n < 1 || n > maxNumber || n >= firstReserved && n <= lastReserved {
			return fmt.Errorf("proto: %d is not a valid field number", n)
		}
	}
	wire := f.Type.wireType()
	if s.ProtoListWrapper {
		if f.Type.Form != FormList {
			return fmt.Errorf("protoListWrapper: %s is not a list", s.Type)
		}
		wire = wireBytes
	}
	if s.Wire != "" && s.Wire != wireName(wire) {
		return fmt.Errorf("wire: %s is encoded as %s, not %s", s.Type, wireName(wire), s.Wire)
	}
	at := newWireField(s.Proto, wire)
	at.field = f
	if s.ProtoWrap == 0 {
		w.fields = append(w.fields, at)
		return nil
	}
	inside := w.wrapper(s.ProtoWrap)
	inside.fields = append(inside.fields, at)
	return nil
}

// wrapper returns the layout of the wrapper message with a field number. It adds the wrapper if it
// does not exist.
func (w *wireMessage) wrapper(number int) *wireMessage {
	for i := range w.fields {
		if f := &w.fields[i]; f.number == number && f.inside != nil {
			return f.inside
		}
	}
	at := newWireField(number, wireBytes)
	at.inside = &wireMessage{}
	w.fields = append(w.fields, at)
	return at.inside
}

func (w *wireMessage) sort() error {
	slices.SortFunc(w.fields, func(a, b wireField) int { return cmp.Compare(a.number, b.number) })
	for i := range w.fields {
		if i > 0 && w.fields[i].number == w.fields[i-1].number {
			return fmt.Errorf("two fields have the protobuf number %d", w.fields[i].number)
		}
		if inside := w.fields[i].inside; inside != nil {
			if err := inside.sort(); err != nil {
				return err
			}
		}
	}
	return nil
}

// find returns the field with a number, or nil, and the position to try next. It tries the position
// next first, because fields usually come in the order of their numbers.
func (w *wireMessage) find(number int, next int) (f *wireField, at int) {
	if next < len(w.fields) && w.fields[next].number == number {
		return &w.fields[next], next
	}
	at, ok := slices.BinarySearchFunc(w.fields, number, func(f wireField, n int) int { return cmp.Compare(f.number, n) })
	if !ok {
		return nil, next
	}
	return &w.fields[at], at
}

// compileWireZero computes the encoding of the message with no field set, which is what upstream
// writes for an unset message without a pointer.
func (m *Message) compileWireZero(above []*Message) error {
	if m.wire.zero != nil {
		return nil
	}
	if slices.Contains(above, m) {
		return fmt.Errorf("message %s always contains itself in protobuf", m.Name)
	}
	for _, f := range m.fields {
		if f.Spec.Proto != 0 && !f.pointer && f.Type.message != nil {
			if err := f.Type.message.compileWireZero(append(above, m)); err != nil {
				return err
			}
		}
	}
	m.wire.zero = appendWire(make([]byte, 0, m.wire.size(nil)), m.wire, nil)
	return nil
}

// fullyNumbered reports whether the message and all messages below it have protobuf numbers for all
// of their fields.
func (m *Message) fullyNumbered(seen map[*Message]bool) bool {
	if seen[m] {
		return true
	}
	if m.Spec.Open { // members beyond the declared fields have no numbers
		return false
	}
	seen[m] = true
	for _, f := range m.fields {
		below := f.Type.innermost().InProtobuf().message
		if f.Spec.Proto == 0 && !f.isTypeMeta() || below != nil && !below.fullyNumbered(seen) {
			return false
		}
	}
	return true
}

// HasProtobuf reports whether objects of the kind have a protobuf form. Kinds defined by
// ThirdPartyResources do not (B21).
func (k *Kind) HasProtobuf() bool { return k.protobuf }
