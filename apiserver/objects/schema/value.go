package schema

import (
	"iter"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Value is a node of an object: a message, list, map or scalar. A nil *Value is unset; methods that
// only read accept it and return zero values. A Value belongs to one object; use Copy to put it
// into another. Decoded strings may share the memory of the body.
type Value struct {
	typ *Type
	str string // string, bytes (decoded), canonical quantity, raw JSON text, or text of an intOrString
	num int64  // integer, bool, bits of a double, Unix seconds or microseconds, or number of an intOrString
	box *box   // of messages, lists and maps
}

// box holds the content of a composite value.
type box struct {
	kids []*Value // message: values by field index (nil if unset), then open members; list: items; map: values
	keys []string // map: keys, sorted, parallel to kids; message: names of open members, sorted
}

// textual is the box of an intOrString that holds text.
var textual = &box{}

// Type returns the value's type; nil for an unset value.
func (v *Value) Type() *Type {
	if v == nil {
		return nil
	}
	return v.typ
}

// IsSet reports whether the value is set. Empty values are set.
func (v *Value) IsSet() bool { return v != nil }

// IsEmpty reports whether the value is unset or the zero value of its type: "", 0, false, a list or
// map without items, or a message without set fields.
func (v *Value) IsEmpty() bool {
	if v == nil {
		return true
	}
	switch v.typ.Form {
	case FormMessage:
		for _, kid := range v.box.kids {
			if kid != nil {
				return false
			}
		}
		return true
	case FormList, FormMap:
		return len(v.box.kids) == 0
	case FormString, FormBytes, FormRaw:
		return v.str == ""
	case FormQuantity:
		return v.str == "0" || v.str == ""
	case FormIntOrString:
		return v.num == 0 && v.str == ""
	case FormTime, FormMicroTime:
		return false
	default:
		return v.num == 0
	}
}

// Str returns the text of a string, quantity (canonical), bytes (decoded), rawExtension (JSON) or
// intOrString that holds text.
func (v *Value) Str() string {
	if v == nil {
		return ""
	}
	return v.str
}

// Int returns an integer, the Unix seconds of a time, the Unix microseconds of a microTime, or the
// number of an intOrString.
func (v *Value) Int() int64 {
	if v == nil {
		return 0
	}
	return v.num
}

// Bool returns a boolean.
func (v *Value) Bool() bool { return v != nil && v.num != 0 }

// Float returns a double.
func (v *Value) Float() float64 {
	if v == nil {
		return 0
	}
	return math.Float64frombits(uint64(v.num))
}

// Time returns a time in UTC; the zero time when unset.
func (v *Value) Time() time.Time {
	if v == nil {
		return time.Time{}
	}
	if v.typ.Form == FormMicroTime {
		return time.UnixMicro(v.num).UTC()
	}
	return time.Unix(v.num, 0).UTC()
}

// Quantity returns a quantity; zero when unset.
func (v *Value) Quantity() resource.Quantity {
	if v.IsEmpty() {
		return resource.Quantity{}
	}
	q, err := resource.ParseQuantity(v.str)
	if err != nil { // cannot happen: values contain only canonical text
		return resource.Quantity{}
	}
	return q
}

// IsText reports whether an intOrString holds text.
func (v *Value) IsText() bool { return v != nil && v.box == textual }

// Len returns the number of items or entries.
func (v *Value) Len() int {
	if v == nil || v.box == nil || v.typ.Form == FormMessage {
		return 0
	}
	return len(v.box.kids)
}

// At returns the item of a list at an index, or nil if it is out of range.
func (v *Value) At(i int) *Value {
	if i < 0 || i >= v.Len() {
		return nil
	}
	return v.box.kids[i]
}

// Items yields the items of a list in order.
func (v *Value) Items() iter.Seq2[int, *Value] {
	return func(yield func(int, *Value) bool) {
		for i := range v.Len() {
			if !yield(i, v.box.kids[i]) {
				return
			}
		}
	}
}

// Get returns the entry of a map with a key, or nil if there is none.
func (v *Value) Get(key string) *Value {
	if v == nil || v.typ.Form != FormMap {
		return nil
	}
	if i, ok := slices.BinarySearch(v.box.keys, key); ok {
		return v.box.kids[i]
	}
	return nil
}

// Entries yields the entries of a map in the order of their keys.
func (v *Value) Entries() iter.Seq2[string, *Value] {
	return func(yield func(string, *Value) bool) {
		if v == nil || v.typ.Form != FormMap {
			return
		}
		for i, key := range v.box.keys {
			if !yield(key, v.box.kids[i]) {
				return
			}
		}
	}
}

// Field returns a field of a message by its JSON name. It returns nil if the field is unset or the
// message does not have it, at least not in this context.
func (v *Value) Field(name string) *Value {
	if v == nil || v.typ.message == nil {
		return nil
	}
	f := v.typ.message.byName[name]
	if f == nil {
		return nil
	}
	return v.box.kids[f.index]
}

// Lookup returns the value at a path of field names, or nil.
func (v *Value) Lookup(names ...string) *Value {
	for _, name := range names {
		v = v.Field(name)
	}
	return v
}

// Copy returns a deep copy of the value. Strings are shared.
func (v *Value) Copy() *Value {
	if v == nil {
		return nil
	}
	out := &Value{typ: v.typ, str: v.str, num: v.num, box: v.box}
	if v.box == nil || v.box == textual {
		return out
	}
	out.box = &box{kids: make([]*Value, len(v.box.kids)), keys: slices.Clone(v.box.keys)}
	for i, kid := range v.box.kids {
		out.box.kids[i] = kid.Copy()
	}
	return out
}

// Equal reports whether two values of one type are equivalent. Empty lists, maps, messages and zero
// scalars equal unset ones, except in fields with `pointer`, which distinguish the two. Texts that
// protobuf has as a message are equal if the messages are.
func Equal(a, b *Value) bool {
	if a == nil || b == nil {
		return encodesAsUnset(a) && encodesAsUnset(b)
	}
	if a == b {
		return true
	}
	if a.typ.tree != nil {
		return a.str == b.str || sameTree(a, b)
	}
	if a.box == nil || a.box == textual || b.box == nil {
		return a.str == b.str && a.num == b.num && a.IsText() == b.IsText()
	}
	if len(a.box.kids) != len(b.box.kids) || !slices.Equal(a.box.keys, b.box.keys) {
		return false
	}
	for i, kid := range a.box.kids {
		other := b.box.kids[i]
		if a.typ.distinguishesUnset(i) && (kid == nil) != (other == nil) {
			return false
		}
		if !Equal(kid, other) {
			return false
		}
	}
	return true
}

// encodesAsUnset reports whether the value is encoded as if it were unset.
func encodesAsUnset(v *Value) bool {
	if v == nil || v.typ.Form != FormMessage {
		return v.IsEmpty()
	}
	for i, kid := range v.box.kids {
		if kid != nil && (v.typ.distinguishesUnset(i) || !encodesAsUnset(kid)) {
			return false
		}
	}
	return true
}

// distinguishesUnset reports whether a message with the member at index i set differs from one
// without it even if the member is empty. That is the case for fields with pointer and for open
// members.
func (t *Type) distinguishesUnset(i int) bool {
	return t.Form == FormMessage && (i >= len(t.message.fields) || t.message.fields[i].pointer)
}
