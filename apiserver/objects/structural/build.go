package structural

import (
	"fmt"
	"strings"
)

// builder compiles the keywords of a schema that is structural. Equal schemas become one node.
type builder struct {
	nodes    map[string]*node
	ids      map[*node]int
	nesteds  map[string]*nested
	nestIDs  map[*nested]int
	patterns map[string]*pattern
	names    map[string]string
}

func newBuilder() *builder {
	return &builder{map[string]*node{}, map[*node]int{}, map[string]*nested{}, map[*nested]int{}, map[string]*pattern{}, map[string]string{}}
}

// name returns the one copy of a property's name.
func (b *builder) name(s string) string {
	if have, ok := b.names[s]; ok {
		return have
	}
	b.names[s] = s
	return s
}

func (b *builder) build(k *keywords) *node {
	if k == nil {
		return nil
	}
	typ, _ := kindOf(k.typ) // An unknown type has been reported.
	n := &node{
		kind: typ, nullable: k.nullable, preserve: k.preserved(), embedded: k.embedded, intOrString: k.intOrString,
		atomicMap: k.mapType != nil && *k.mapType == "atomic", mapKeys: k.listMapKeys, dflt: k.dflt,
		items: b.build(k.items), resources: k.embedded,
	}
	n.properties = make([]property, 0, len(k.properties))
	for _, p := range k.properties {
		n.properties = append(n.properties, property{b.name(p.name), b.build(p.schema)})
	}
	if a := k.additional; a != nil {
		n.values = b.build(a.schema)
		switch {
		case n.values != nil:
			n.additional = typed
		case a.allowed:
			n.additional = allowed
		default:
			n.additional = forbidden
		}
	}
	if k.listType != nil {
		switch *k.listType {
		case "set":
			n.listType = setList
		case "map":
			n.listType = mapList
		}
	}
	n.checks = b.checks(k)
	n.rules = newRules(k)
	n.summarize()
	return b.share(n)
}

// summarize computes what a node knows of the nodes below it.
func (n *node) summarize() {
	n.ruled, n.listTypes, n.checked = n.rules != nil, n.listType != atomicList, n.kind != anyKind || n.intOrString || n.checks != nil || n.additional == forbidden
	below := func(sub *node) {
		if sub != nil {
			n.ruled, n.listTypes, n.resources = n.ruled || sub.ruled, n.listTypes || sub.listTypes, n.resources || sub.resources
			n.checked = n.checked || sub.checked
		}
	}
	below(n.items)
	below(n.values)
	for _, p := range n.properties {
		below(p.schema)
		if p.schema.dflt != nil {
			n.defaults++
		}
	}
	if n.dflt != nil {
		filled := n.dflt.clone()
		fillDefaults(&filled, n)
		n.filled = &filled
	}
}

// share returns the node that was built first of those equal to n.
func (b *builder) share(n *node) *node {
	var key strings.Builder
	fmt.Fprint(&key, n.kind, n.nullable, n.preserve, n.embedded, n.intOrString, n.additional, n.listType, n.atomicMap, b.ids[n.items], " ", b.ids[n.values])
	for _, p := range n.properties {
		fmt.Fprintf(&key, " %q %d", p.name, b.ids[p.schema])
	}
	fmt.Fprintf(&key, "%q", n.mapKeys)
	if n.dflt != nil {
		key.Write(n.dflt.appendTo(nil))
	}
	b.writeChecks(&key, n.checks)
	n.rules.write(&key)
	if have := b.nodes[key.String()]; have != nil {
		return have
	}
	b.nodes[key.String()] = n
	b.ids[n] = len(b.ids) + 1
	return n
}

// checks returns the restrictions of a schema, nil if there are none.
func (b *builder) checks(k *keywords) *checks {
	c := checks{
		format: k.format, checksFormat: checksFormat(k), pattern: b.pattern(k.pattern), enum: k.enum, required: k.required,
		alternatives: b.alternatives(k),
	}
	s := sizes{k.maxLength, k.minLength, k.maxItems, k.minItems, k.maxProperties, k.minProperties}
	if s != (sizes{}) {
		c.sizes = &s
	}
	// Whether a limit is exclusive says nothing without the limit.
	if k.maximum != nil || k.minimum != nil || k.multipleOf != nil {
		c.bounds = &bounds{k.maximum, k.minimum, k.multipleOf, k.exclusiveMaximum, k.exclusiveMinimum}
	}
	if c.empty() && c.format == "" {
		return nil
	}
	return &c
}

// alternatives returns the junctors of a schema, nil if there are none.
func (b *builder) alternatives(k *keywords) *alternatives {
	a := alternatives{allOf: b.nestedAll(k.allOf), anyOf: b.nestedAll(k.anyOf), oneOf: b.nestedAll(k.oneOf), not: b.nested(k.not)}
	if a.allOf == nil && a.anyOf == nil && a.oneOf == nil && a.not == nil {
		return nil
	}
	return &a
}

// empty reports whether the checks accept every value.
func (c *checks) empty() bool {
	return c.bounds == nil && c.sizes == nil && !c.checksFormat && c.pattern == nil && c.enum == nil && c.required == nil &&
		c.alternatives == nil && c.kind == anyKind
}

// limits returns the bounds, which may all be unset.
func (c *checks) limits() bounds {
	if c.bounds == nil {
		return bounds{}
	}
	return *c.bounds
}

func (b *builder) pattern(s string) *pattern {
	if s == "" {
		return nil
	}
	if b.patterns[s] == nil {
		b.patterns[s] = newPattern(s)
	}
	return b.patterns[s]
}

func (b *builder) nestedAll(list []*keywords) []*nested {
	var out []*nested
	for _, k := range list {
		out = append(out, b.nested(k))
	}
	return out
}

func (b *builder) nested(k *keywords) *nested {
	if k == nil {
		return nil
	}
	n := &nested{items: b.nested(k.items), closed: k.additional != nil && !k.additional.allowed}
	if c := b.checks(k); c != nil {
		n.checks = *c
	}
	n.checks.kind, _ = kindOf(k.typ)
	for _, p := range k.properties {
		n.properties = append(n.properties, nestedProperty{b.name(p.name), b.nested(p.schema)})
	}
	var key strings.Builder
	fmt.Fprint(&key, n.closed, b.nestIDs[n.items])
	for _, p := range n.properties {
		fmt.Fprintf(&key, " %q %d", p.name, b.nestIDs[p.schema])
	}
	b.writeChecks(&key, &n.checks)
	if have := b.nesteds[key.String()]; have != nil {
		return have
	}
	b.nesteds[key.String()] = n
	b.nestIDs[n] = len(b.nestIDs) + 1
	return n
}

// writeChecks writes a text that is the same for equal checks only.
func (b *builder) writeChecks(key *strings.Builder, c *checks) {
	if c == nil {
		key.WriteByte('-')
		return
	}
	n := c.limits()
	fmt.Fprint(key, c.kind, n.exclusiveMaximum, n.exclusiveMinimum, number64(n.maximum), number64(n.minimum), number64(n.multipleOf))
	fmt.Fprintf(key, "%v %q %q %q", c.checksFormat, c.format, c.patternText(), c.required)
	if s := c.sizes; s != nil {
		for _, n := range [...]*int64{s.maxLength, s.minLength, s.maxItems, s.minItems, s.maxProperties, s.minProperties} {
			if n == nil {
				key.WriteByte('_')
				continue
			}
			fmt.Fprint(key, " ", *n)
		}
	}
	for i := range c.enum {
		key.WriteByte('=')
		key.Write(c.enum[i].appendTo(nil))
	}
	if c.alternatives == nil {
		return
	}
	for _, list := range [...][]*nested{c.alternatives.allOf, c.alternatives.anyOf, c.alternatives.oneOf, {c.alternatives.not}} {
		key.WriteByte('(')
		for _, n := range list {
			fmt.Fprint(key, " ", b.nestIDs[n])
		}
	}
}

func (c *checks) patternText() string {
	if c.pattern == nil {
		return ""
	}
	return c.pattern.text
}

func number64(f *float64) string {
	if f == nil {
		return "_"
	}
	return fmt.Sprint(" ", *f)
}
