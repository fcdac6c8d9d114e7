package structural

import (
	"cmp"
	"slices"

	"quorate/apiserver/objects/expression"
)

// DefaultProgramBytes is how much memory the programs of all schemas take by default: those of some
// 3,000 rules.
const DefaultProgramBytes = 64 << 20

// Schema is a compiled schema.
type Schema struct {
	root     *node
	programs *expression.Programs // of its rules and patterns
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
// a schema consists of them. Most schemas have few, so those that come together are apart; they are
// nil where there is none.
type checks struct {
	kind         kind   // inside of junctors only
	checksFormat bool   // the server checks the format
	format       string // as written
	sizes        *sizes
	bounds       *bounds
	pattern      *pattern
	enum         []value
	required     []string
	alternatives *alternatives
}

// bounds are limits of numbers, nil where there is none.
type bounds struct {
	maximum, minimum, multipleOf       *float64
	exclusiveMaximum, exclusiveMinimum bool
}

// alternatives are the junctors of a schema.
type alternatives struct {
	allOf, anyOf, oneOf []*nested
	not                 *nested
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
	i, ok := slices.BinarySearchFunc(n.properties, name, func(p property, name string) int { return cmp.Compare(p.name, name) })
	if !ok {
		return nil
	}
	return n.properties[i].schema
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
