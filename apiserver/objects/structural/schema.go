package structural

import (
	"regexp"
	"sync/atomic"
)

// Schema is a compiled schema.
type Schema struct {
	root  *node
	nodes int // how many different ones there are
}

// node is a schema outside of allOf, anyOf, oneOf and not. It is immutable but for what it compiles
// when it is first needed.
type node struct {
	kind        kind
	nullable    bool
	preserve    bool
	embedded    bool
	intOrString bool
	additional  additionalMode
	listType    listType
	atomicMap   bool
	defaults    int // how many properties have one

	properties []property // sorted by name
	values     *node      // the schema of additionalProperties
	items      *node
	mapKeys    []string
	dflt       *value // as written
	filled     *value // the default with the defaults of its own parts
	checks     *checks
	rules      *rules

	listTypes bool // the node or one below it is a set or map
	resources bool // the node or one below it is an embedded resource
	ruled     bool // the node or one below it has rules
	checked   bool // the node or one below it restricts values
}

// property is a property of a schema.
type property struct {
	name   string
	schema *node
}

// additionalMode is what additionalProperties says.
type additionalMode uint8

const (
	unspecified additionalMode = iota
	forbidden                  // false
	allowed                    // true
	typed                      // a schema
)

// listType is what x-kubernetes-list-type says.
type listType uint8

const (
	atomicList listType = iota
	setList
	mapList
)

// checks are the keywords of a schema that restrict values. Inside of allOf, anyOf, oneOf and not,
// a schema consists of them.
type checks struct {
	kind                               kind // inside of junctors only
	exclusiveMaximum, exclusiveMinimum bool

	maximum, minimum, multipleOf *float64
	sizes                        *sizes
	format                       string // "" if the server does not check it
	celFormat                    string // as written
	pattern                      *pattern
	enum                         []value
	required                     []string
	allOf, anyOf, oneOf          []*nested
	not                          *nested
}

// sizes are limits of lengths and counts, nil where there is none.
type sizes struct {
	maxLength, minLength, maxItems, minItems, maxProperties, minProperties *int64
}

// nested is a schema inside of allOf, anyOf, oneOf or not.
type nested struct {
	checks     checks
	properties []nestedProperty // sorted by name
	items      *nested
	closed     bool // additionalProperties is false
}

type nestedProperty struct {
	name   string
	schema *nested
}

// pattern is a regular expression, which is compiled when it is first needed.
type pattern struct {
	text     string
	compiled atomic.Pointer[regexp.Regexp]
}

// match reports whether the pattern occurs in s. The pattern has been compiled before, so it is
// valid.
func (p *pattern) match(s string) bool {
	re := p.compiled.Load()
	if re == nil {
		re = regexp.MustCompile(p.text)
		p.compiled.Store(re)
	}
	return re.MatchString(s)
}

// TypeAt returns the type that the schema requires at a path of properties, "" if it requires none
// or has no such property.
func (s *Schema) TypeAt(path []string) string {
	n := s.root
	for _, name := range path {
		if n = n.property(name); n == nil {
			return ""
		}
	}
	return n.kind.String()
}

// property returns the schema of a property, or nil.
func (n *node) property(name string) *node {
	lo, hi := 0, len(n.properties)
	for lo < hi {
		if mid := (lo + hi) / 2; n.properties[mid].name < name {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(n.properties) && n.properties[lo].name == name {
		return n.properties[lo].schema
	}
	return nil
}

// member returns the schema of an object's member: that of the property, else that of
// additionalProperties, else nil.
func (n *node) member(name string) *node {
	if n == nil {
		return nil
	}
	if p := n.property(name); p != nil {
		return p
	}
	return n.values
}
