package schema

import (
	"cmp"
	"fmt"
	"slices"
)

// OwnNumbers is where the protobuf numbers begin that no upstream message has: of fields that only
// the specification names, and of kind and apiVersion in messages that lie in others. Such fields
// are written only when they are set, so that objects without them are, byte by byte, what upstream
// writes.
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
	firstReserved    = 19000 // protobuf keeps these for itself
	lastReserved     = 19999
	wireTypeBits     = 3
	wireTypeMask     = 1<<wireTypeBits - 1
	firstInsideEntry = 1 // numbers in the messages that protobuf makes of map entries, list wrappers, quantities ...
	secondInside     = 2
	thirdInside      = 3
)

// wireMessage is how protobuf lays out a message: by number.
type wireMessage struct {
	fields []wireField
	zero   []byte // the message with nothing set
}

// wireField is a field as protobuf has it: one of ours, or a message that holds several of ours
// (protoWrap).
type wireField struct {
	number  int
	key     uint64 // number and wire type
	keySize int
	field   *Field       // nil of a wrapper
	inside  *wireMessage // of a wrapper
	own     bool         // not upstream's
}

func newWireField(number int, wire uint64) wireField {
	key := uint64(number)<<wireTypeBits | wire
	return wireField{number: number, key: key, keySize: sizeVarint(key), own: number >= OwnNumbers}
}

// wireType is how a value of the type is written; items of lists each on their own.
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

// compileWire lays the message out by its numbers. Fields without one are left out.
func (m *Message) compileWire() error {
	m.wire = &wireMessage{}
	for _, f := range m.fields {
		if f.Spec.Proto == 0 {
			continue
		}
		if f.Spec.ProtoWrap != 0 && m.Spec.ProtoWrapper == "" {
			return fmt.Errorf("field %s: protoWrap: the message has no protoWrapper", f.Name)
		}
		if err := m.wire.place(f); err != nil {
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

// isTypeMeta reports a field that says what an object is; the envelope does that for objects that
// lie in none.
func (f *Field) isTypeMeta() bool { return f.Name == "kind" || f.Name == "apiVersion" }

func (m *Message) ownTypeMeta() bool {
	return slices.ContainsFunc(m.wire.fields, func(f wireField) bool { return f.own && f.field.isTypeMeta() })
}

func (w *wireMessage) place(f *Field) error {
	s := f.Spec
	for _, n := range [...]int{s.Proto, max(s.ProtoWrap, 1)} {
		if n < 1 || n > maxNumber || n >= firstReserved && n <= lastReserved {
			return fmt.Errorf("proto: %d is no field number", n)
		}
	}
	wire := f.Type.wireType()
	if s.ProtoListWrapper {
		if f.Type.Form != FormList {
			return fmt.Errorf("protoListWrapper: %s is no list", s.Type)
		}
		wire = wireBytes
	}
	if s.Wire != "" && s.Wire != wireName(wire) {
		return fmt.Errorf("wire: %s travels as %s, not %s", s.Type, wireName(wire), s.Wire)
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

// wrapper returns the message that is at a number and holds fields of ours, made when it is new.
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

// find returns the field of a number; nil when there is none. Looking at next first finds fields
// that come in order.
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

// compileWireZero writes the message with nothing set: what stands for one that upstream always
// writes.
func (m *Message) compileWireZero(above []*Message) error {
	if m.wire.zero != nil {
		return nil
	}
	if slices.Contains(above, m) {
		return fmt.Errorf("message %s always holds itself in protobuf", m.Name)
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

// numbered reports whether every field of the message and of those in it has a protobuf number.
func (m *Message) numbered(seen map[*Message]bool) bool {
	if seen[m] {
		return true
	}
	if m.Spec.Open { // its other members have no numbers
		return false
	}
	seen[m] = true
	for _, f := range m.fields {
		if f.Spec.Proto == 0 && !f.isTypeMeta() || f.below != nil && !f.below.numbered(seen) {
			return false
		}
	}
	return true
}

// HasProtobuf reports whether objects of the kind have a protobuf form: kinds made of
// ThirdPartyResources do not (B21).
func (k *Kind) HasProtobuf() bool { return k.protobuf }
