package structural

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Normalized is the result of Normalize.
type Normalized struct {
	// Object is the canonical JSON text of the object. It ends the slice passed to Normalize.
	Object []byte
	// Dropped lists the paths of fields that the schema does not know, sorted, such as
	// "spec.containers[0].imag".
	Dropped []string
	// More counts those that Dropped does not list.
	More int
}

// maxDropped bounds the fields that are listed as dropped. An answer names fewer (maxProblems in
// package schema).
const maxDropped = 1000

// Normalize reads an object, removes the fields that the schema does not know, and fills in
// defaults. Where the schema does not allow null, it replaces null by the default, or removes a
// member that has none. It appends the canonical text of the result to dst.
//
// The schema does not apply to kind, apiVersion and metadata of the object and of embedded
// resources. Those of embedded resources must be well-formed, and their metadata loses the fields
// that ObjectMeta does not have. The error is a *SyntaxError or a *MetadataError.
func (s *Schema) Normalize(dst, src []byte) (Normalized, error) {
	v, err := parse(string(src))
	if err != nil {
		return Normalized{}, err
	}
	n := normalizer{whole: true}
	if err := n.coerce(&v, s.root, nil); err != nil {
		return Normalized{}, err
	}
	n.normalize(&v, s.root, pruneUnknown)
	slices.Sort(n.dropped)
	return Normalized{v.appendTo(slices.Grow(dst, len(src)+64)), n.dropped, n.more}, nil
}

// mode says what becomes of fields that a schema does not specify.
type mode uint8

const (
	pruneUnknown mode = iota
	keepUnknown       // those of this object and of its items; properties are pruned
	keepAll           // nothing below is pruned either
)

// normalizer prunes and fills in defaults.
type normalizer struct {
	path    []step
	dropped []string
	more    int  // fields that dropped does not list
	whole   bool // the value is an object of the kind, not a default
	only    bool // only prune: defaults and null stay as they are
}

// step is an item's index, or a member's name with index -1.
type step struct {
	name  string
	index int
}

// normalize normalizes a value. n is nil where there is no schema.
func (z *normalizer) normalize(v *value, n *node, m mode) {
	if n != nil && n.preserve && m == pruneUnknown {
		m = keepUnknown
	}
	switch {
	case v.kind == object && n == nil:
		if m == pruneUnknown {
			for i := range v.kids {
				z.drop(v.kids[i].name)
			}
			v.kids = nil
		}
	case v.kind == object:
		z.object(v, n, m)
	case v.kind == array && (n != nil || m == pruneUnknown):
		z.array(v, n, m)
	}
}

func (z *normalizer) array(v *value, n *node, m mode) {
	var items *node
	if n != nil {
		items = n.items
	}
	z.path = append(z.path, step{})
	for i := range v.kids {
		item := &v.kids[i].value
		z.path[len(z.path)-1].index = i
		if item.kind == null && items != nil && !items.nullable && items.filled != nil && !z.only {
			*item = *items.filled
			continue
		}
		z.normalize(item, items, m)
	}
	z.path = z.path[:len(z.path)-1]
}

// object normalizes the members of an object. Members and properties are both sorted by name.
func (z *normalizer) object(v *value, n *node, m mode) {
	out := v.kids[:0]
	if n.defaults > 0 && !z.only {
		out = make([]member, 0, len(v.kids)+n.defaults)
	}
	properties := n.properties
	for i := range v.kids {
		kid := &v.kids[i]
		for len(properties) > 0 && properties[0].name < kid.name {
			out = z.addDefault(out, properties[0])
			properties = properties[1:]
		}
		schema := n.values
		if len(properties) > 0 && properties[0].name == kid.name {
			schema = properties[0].schema
			properties = properties[1:]
		}
		if z.keep(kid, n, schema, m) {
			out = append(out, *kid)
		}
	}
	for _, p := range properties {
		out = z.addDefault(out, p)
	}
	v.kids = out
}

// keep normalizes a member of an object with schema n, and reports whether it stays. schema is that
// of the member, or nil.
func (z *normalizer) keep(kid *member, n, schema *node, m mode) bool {
	below := pruneUnknown
	switch {
	case m == keepAll, isMeta(kid.name) && (n.embedded || z.whole && len(z.path) == 0):
		below = keepAll
	case schema != nil || n.additional != unspecified:
	case m == keepUnknown:
		return true
	default:
		z.drop(kid.name)
		return false
	}
	if kid.kind == null && schema != nil && !schema.nullable && !z.only {
		if schema.filled == nil {
			return false
		}
		kid.value = *schema.filled
		return true
	}
	if kid.kind < array {
		return true
	}
	z.path = append(z.path, step{name: kid.name, index: -1})
	z.normalize(&kid.value, schema, below)
	z.path = z.path[:len(z.path)-1]
	return true
}

// addDefault appends a property's default, if it has one.
func (z *normalizer) addDefault(out []member, p property) []member {
	if p.schema.filled == nil || z.only {
		return out
	}
	return append(out, member{p.name, *p.schema.filled})
}

// dropAt records that a member of the object at a path is removed.
func (z *normalizer) dropAt(path *field.Path, name string) {
	if len(z.dropped) >= maxDropped {
		z.more++
		return
	}
	text := path.Child(name).String()
	z.dropped = append(z.dropped, strings.Clone(text[:min(len(text), maxPathBytes)]))
}

// drop records that a member of the current object is removed.
func (z *normalizer) drop(name string) {
	if len(z.dropped) >= maxDropped {
		z.more++
		return
	}
	var b strings.Builder
	for _, s := range append(z.path, step{name: name, index: -1}) {
		if s.appendTo(&b); b.Len() > maxPathBytes {
			break
		}
	}
	z.dropped = append(z.dropped, b.String())
}

func (s step) appendTo(b *strings.Builder) {
	if s.index >= 0 {
		b.WriteString("[" + strconv.Itoa(s.index) + "]")
		return
	}
	if b.Len() > 0 {
		b.WriteByte('.')
	}
	b.WriteString(s.name)
}

// fillDefaults fills in the defaults of the parts of a default. It prunes nothing and keeps null.
func fillDefaults(v *value, n *node) {
	if n == nil {
		return
	}
	switch v.kind {
	case array:
		for i := range v.kids {
			item := &v.kids[i].value
			if item.kind == null && n.items != nil && !n.items.nullable && n.items.filled != nil {
				*item = *n.items.filled
			}
			fillDefaults(item, n.items)
		}
	case object:
		for _, p := range n.properties {
			have := v.member(p.name)
			switch {
			case p.schema.filled == nil:
			case have == nil:
				v.kids = append(v.kids, member{p.name, *p.schema.filled})
				v.kids = sortMembers(v.kids)
			case have.kind == null && !p.schema.nullable:
				*have = *p.schema.filled
			}
		}
		for i := range v.kids {
			sub := n.member(v.kids[i].name)
			kid := &v.kids[i].value
			if kid.kind == null && sub != nil && !sub.nullable && sub.filled != nil {
				*kid = *sub.filled
			}
			fillDefaults(kid, sub)
		}
	}
}
