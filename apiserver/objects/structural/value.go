package structural

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// kind is the type of a JSON value, or the type that a schema requires.
type kind uint8

const (
	anyKind kind = iota // of schemas only: no type is required
	null
	boolean
	integer // of schemas only: a number that is whole
	number
	text
	array
	object
)

var kindNames = [...]string{anyKind: "", null: "null", boolean: "boolean", integer: "integer", number: "number",
	text: "string", array: "array", object: "object"}

func (k kind) String() string { return kindNames[k] }

// kindOf returns the kind of a schema's type. ok is false for an unknown name.
func kindOf(name string) (k kind, ok bool) {
	for k, n := range kindNames {
		if n == name {
			return kind(k), true
		}
	}
	return anyKind, false
}

// value is a JSON value.
type value struct {
	kind kind
	text string   // of a string, decoded; of a number or boolean, as written
	kids []member // of an object sorted by name; of an array with empty names
}

// member is a member of an object or an item of an array.
type member struct {
	name string
	value
}

// member returns the member of an object with a name, or nil.
func (v *value) member(name string) *value {
	if v == nil || v.kind != object {
		return nil
	}
	i, ok := slices.BinarySearchFunc(v.kids, name, func(m member, name string) int { return cmp.Compare(m.name, name) })
	if !ok {
		return nil
	}
	return &v.kids[i].value
}

// whole returns the value of a number that is written as an integer and fits 64 bits. All other
// numbers are floating-point numbers, also 1.0.
func (v *value) whole() (n int64, ok bool) {
	n, err := strconv.ParseInt(v.text, 10, 64)
	return n, err == nil
}

// float returns the value of a number. It is infinite beyond the range of float64.
func (v *value) float() float64 {
	f, _ := strconv.ParseFloat(v.text, 64) // The parser accepts only numbers, so the error is of range.
	return f
}

// equal reports whether two values are the same. 1 and 1.0 differ, as they do for Kubernetes.
func equal(a, b *value) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.kind != b.kind || len(a.kids) != len(b.kids) {
		return false
	}
	if a.text != b.text {
		return a.kind == number && equalNumbers(a, b)
	}
	for i := range a.kids {
		if a.kids[i].name != b.kids[i].name || !equal(&a.kids[i].value, &b.kids[i].value) {
			return false
		}
	}
	return true
}

func equalNumbers(a, b *value) bool {
	n, isWhole := a.whole()
	m, otherIsWhole := b.whole()
	if isWhole != otherIsWhole {
		return false
	}
	return isWhole && n == m || !isWhole && a.float() == b.float()
}

// key returns a text that is the same for equal scalars only.
func (v *value) key() string {
	if v.kind != number {
		return v.kind.String() + v.text
	}
	if n, ok := v.whole(); ok {
		return "integer" + strconv.FormatInt(n, 10)
	}
	return "number" + strconv.FormatFloat(v.float(), 'g', -1, 64)
}

// plain returns the value as encoding/json represents it, but integers as int64.
func (v *value) plain() any {
	switch v.kind {
	case boolean:
		return v.text == "true"
	case number:
		if n, ok := v.whole(); ok {
			return n
		}
		return v.float()
	case text:
		return v.text
	case array:
		out := make([]any, len(v.kids))
		for i := range v.kids {
			out[i] = v.kids[i].plain()
		}
		return out
	case object:
		out := make(map[string]any, len(v.kids))
		for i := range v.kids {
			out[v.kids[i].name] = v.kids[i].plain()
		}
		return out
	default:
		return nil
	}
}

// clone returns a copy that shares no memory with v but the strings.
func (v *value) clone() value {
	out := *v
	out.text = strings.Clone(v.text)
	if v.kids != nil {
		out.kids = make([]member, len(v.kids))
		for i := range v.kids {
			out.kids[i] = member{strings.Clone(v.kids[i].name), v.kids[i].value.clone()}
		}
	}
	return out
}

// integral reports whether a number is an integer that float64 holds exactly, but for rounding
// errors, as Kubernetes decides it.
func integral(f float64) bool {
	const maxExact, epsilon = 1<<53 - 1, 1e-9
	if math.IsNaN(f) || f < -maxExact || f > maxExact {
		return false
	}
	rounded := math.Round(f)
	return f == rounded || math.Abs(f-rounded) < epsilon*math.Abs(rounded)
}
