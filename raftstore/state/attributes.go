package state

import (
	"maps"
	"slices"
	"strings"
)

// Attributes is a small sorted set of name-value pairs in one string: the labels of an object, or
// its selectable fields. The zero value is the empty set. Equal sets are equal strings.
type Attributes string

// NewAttributes encodes pairs. Names and values must not contain zero bytes, which the API's
// formats exclude.
func NewAttributes(pairs map[string]string) Attributes {
	if len(pairs) == 0 {
		return ""
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		b.WriteString(name)
		b.WriteByte(0)
		b.WriteString(pairs[name])
		b.WriteByte(0)
	}
	return Attributes(b.String())
}

// Get returns the value of a name, and whether the set has it. It allocates nothing, because
// selectors call it for every object of a collection.
func (a Attributes) Get(name string) (value string, ok bool) {
	for rest := string(a); rest != ""; {
		end := strings.IndexByte(rest, 0)
		length := strings.IndexByte(rest[end+1:], 0)
		if end < 0 || length < 0 {
			break // not encoded by NewAttributes
		}
		if rest[:end] == name {
			return rest[end+1 : end+1+length], true
		}
		if rest[:end] > name {
			return "", false
		}
		rest = rest[end+length+2:]
	}
	return "", false
}

// All yields the pairs in the order of their names.
func (a Attributes) All() func(yield func(name, value string) bool) {
	return func(yield func(name, value string) bool) {
		rest := string(a)
		for rest != "" {
			var name, value string
			name, rest, _ = strings.Cut(rest, "\x00")
			value, rest, _ = strings.Cut(rest, "\x00")
			if !yield(name, value) {
				return
			}
		}
	}
}
