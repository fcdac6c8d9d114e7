package structural

import (
	"strings"
	"unsafe"
)

// Conforms reports whether Normalize would return an object as it is. The object must be in the
// canonical form that Normalize returns, but for the order of the members of its root. Conforms
// allocates no memory and reads an object of 1 KiB in some microseconds, so that objects that were
// stored under another schema can be checked whenever they are read. It returns false for objects
// of a schema with embedded resources, which take more than pruning and defaults.
func (s *Schema) Conforms(object []byte) bool {
	c := conformer{parser{s: unsafe.String(unsafe.SliceData(object), len(object))}} // which retains nothing
	return !s.root.resources && c.value(s.root, pruneUnknown, true) && c.pos == len(object)
}

// conformer follows the steps of normalizer, in the same order, and changes nothing.
type conformer struct{ parser }

// value reads a value that is not null. n is nil where there is no schema. top says that the value
// is the object of the kind.
func (c *conformer) value(n *node, m mode, top bool) bool {
	if n != nil && n.preserve && m == pruneUnknown {
		m = keepUnknown
	}
	if c.pos == len(c.s) {
		return false
	}
	switch c.s[c.pos] {
	case '{':
		if n == nil && m != pruneUnknown {
			return c.skip()
		}
		return c.object(n, m, top)
	case '[':
		if n == nil && m != pruneUnknown {
			return c.skip()
		}
		return c.array(n, m)
	}
	return c.skip()
}

// after reads one byte that must be a comma or the closing one, and reports which it is.
func (c *conformer) after(closing byte) (more, ok bool) {
	if c.pos == len(c.s) {
		return false, false
	}
	b := c.s[c.pos]
	c.pos++
	return b == ',', b == ',' || b == closing
}

// empty reads the opening byte, and the closing one if it follows.
func (c *conformer) empty(closing byte) bool {
	c.pos++
	return c.is(closing, closing)
}

func (c *conformer) array(n *node, m mode) bool {
	if c.empty(']') {
		return true
	}
	var items *node
	if n != nil {
		items = n.items
	}
	for {
		if c.null() {
			if items != nil && !items.nullable && items.filled != nil {
				return false
			}
		} else if !c.value(items, m, false) {
			return false
		}
		if more, ok := c.after(']'); !more {
			return ok
		}
	}
}

func (c *conformer) object(n *node, m mode, top bool) bool {
	if c.empty('}') {
		return n == nil || n.defaults == 0
	}
	if n == nil {
		return false // all members are unknown
	}
	next, defaults := 0, 0
	for {
		name, err := c.str()
		if err != nil || !c.is(':', ':') {
			return false
		}
		var schema *node
		if next < len(n.properties) && n.properties[next].name == name {
			schema = n.properties[next].schema
			next++
		} else {
			schema = n.property(name)
		}
		if schema != nil && schema.dflt != nil {
			defaults++
		}
		if schema == nil {
			schema = n.values
		}
		if !c.member(name, n, schema, m, top) {
			return false
		}
		if more, ok := c.after('}'); !more {
			return ok && defaults == n.defaults
		}
	}
}

// member reads the value of a member of an object with schema n. schema is that of the member, or
// nil.
func (c *conformer) member(name string, n, schema *node, m mode, top bool) bool {
	below := pruneUnknown
	switch {
	case m == keepAll, top && isMeta(name):
		below = keepAll
	case schema != nil || n.additional != unspecified:
	case m == keepUnknown:
		return c.skip()
	default:
		return false
	}
	if c.null() {
		return schema == nil || schema.nullable
	}
	return c.value(schema, below, false)
}

// null reads null, if that is what follows.
func (c *conformer) null() bool {
	if c.pos < len(c.s) && c.s[c.pos] == 'n' {
		return c.skip()
	}
	return false
}

// skip reads a value. It does not check more than it needs to find the end.
func (c *conformer) skip() bool {
	for depth := 0; c.pos < len(c.s); {
		switch c.s[c.pos] {
		case '"':
			if !c.skipString() {
				return false
			}
		case '{', '[':
			depth++
			c.pos++
			continue
		case '}', ']':
			depth--
			c.pos++
		case ',', ':':
			c.pos++
			continue
		default:
			end := strings.IndexAny(c.s[c.pos:], ",]}")
			if end < 0 {
				end = len(c.s) - c.pos
			}
			c.pos += end
		}
		if depth <= 0 {
			return depth == 0
		}
	}
	return false
}

func (c *conformer) skipString() bool {
	for from := c.pos + 1; ; {
		end := strings.IndexByte(c.s[from:], '"')
		if end < 0 {
			return false
		}
		from += end
		escapes := 0
		for c.s[from-1-escapes] == '\\' {
			escapes++
		}
		from++
		if escapes%2 == 0 {
			c.pos = from
			return true
		}
	}
}
