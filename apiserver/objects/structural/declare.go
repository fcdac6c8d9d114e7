package structural

import (
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/cel/common"
)

// declared presents a schema to the CEL library of Kubernetes, which derives the types of rules'
// variables from it and wraps values in CEL values. It is not safe for concurrent use.
type declared struct {
	n          *node
	properties map[string]common.Schema
}

func declare(n *node) common.Schema {
	if n == nil {
		return nil
	}
	return &declared{n: n}
}

func (d *declared) Type() string {
	return d.n.kind.String()
}

func (d *declared) Format() string {
	if d.n.checks == nil {
		return ""
	}
	return d.n.checks.format
}

func (d *declared) Items() common.Schema { return declare(d.n.items) }

func (d *declared) Properties() map[string]common.Schema {
	if d.properties == nil && len(d.n.properties) > 0 {
		d.properties = make(map[string]common.Schema, len(d.n.properties))
		for _, p := range d.n.properties {
			d.properties[p.name] = declare(p.schema)
		}
	}
	return d.properties
}

func (d *declared) AdditionalProperties() common.SchemaOrBool {
	if d.n.additional == unspecified {
		return nil
	}
	return declaredAdditional{d.n}
}

func (d *declared) Default() any {
	if d.n.dflt == nil {
		return nil
	}
	return d.n.dflt.plain()
}

// declaredAdditional presents additionalProperties.
type declaredAdditional struct {
	n *node
}

func (d declaredAdditional) Schema() common.Schema { return declare(d.n.values) }
func (d declaredAdditional) Allows() bool          { return d.n.additional != forbidden }

// limits returns the checks of a schema, which may be empty.
func (d *declared) limits() checks {
	if d.n.checks == nil {
		return checks{}
	}
	return *d.n.checks
}

func (d *declared) bounds() bounds {
	c := d.limits()
	return c.limits()
}

func (d *declared) sizes() sizes {
	if c := d.limits(); c.sizes != nil {
		return *c.sizes
	}
	return sizes{}
}

func (d *declared) Pattern() string          { c := d.limits(); return c.patternText() }
func (d *declared) Minimum() *float64        { return d.bounds().minimum }
func (d *declared) IsExclusiveMinimum() bool { return d.bounds().exclusiveMinimum }
func (d *declared) Maximum() *float64        { return d.bounds().maximum }
func (d *declared) IsExclusiveMaximum() bool { return d.bounds().exclusiveMaximum }
func (d *declared) MultipleOf() *float64     { return d.bounds().multipleOf }
func (d *declared) MinItems() *int64         { return d.sizes().minItems }
func (d *declared) MaxItems() *int64         { return d.sizes().maxItems }
func (d *declared) MinLength() *int64        { return d.sizes().minLength }
func (d *declared) MaxLength() *int64        { return d.sizes().maxLength }
func (d *declared) MinProperties() *int64    { return d.sizes().minProperties }
func (d *declared) MaxProperties() *int64    { return d.sizes().maxProperties }
func (d *declared) Required() []string       { return d.limits().required }
func (d *declared) Nullable() bool           { return d.n.nullable }
func (d *declared) UniqueItems() bool        { return false }

func (d *declared) Enum() []any {
	var out []any
	for _, v := range d.limits().enum {
		out = append(out, v.plain())
	}
	return out
}

// The library asks for junctors and rules only when it generates schemas, which it never does here.

func (d *declared) AllOf() []common.Schema                { return nil }
func (d *declared) OneOf() []common.Schema                { return nil }
func (d *declared) AnyOf() []common.Schema                { return nil }
func (d *declared) Not() common.Schema                    { return nil }
func (d *declared) XValidations() []common.ValidationRule { return nil }

func (d *declared) IsXIntOrString() bool           { return d.n.intOrString }
func (d *declared) IsXEmbeddedResource() bool      { return d.n.embedded }
func (d *declared) IsXPreserveUnknownFields() bool { return d.n.preserve }
func (d *declared) XListMapKeys() []string         { return d.n.mapKeys }

func (d *declared) XListType() string {
	return [...]string{atomicList: "", setList: "set", mapList: "map"}[d.n.listType]
}

func (d *declared) XMapType() string {
	if d.n.atomicMap {
		return "atomic"
	}
	return ""
}

// WithTypeAndObjectMeta returns the schema with kind, apiVersion and those parts of metadata that
// rules may use, as every resource has them.
func (d *declared) WithTypeAndObjectMeta() common.Schema {
	return declare(d.n.withMeta())
}

// Limits of name and generateName. The server appends at least one byte to the latter.
const maxName, maxGenerateName = 253, 252

// withMeta returns the schema of a resource: with kind, apiVersion and metadata.
func (n *node) withMeta() *node {
	meta := n.property("metadata")
	if n.property("kind").is(text) && n.property("apiVersion").is(text) && meta.is(object) &&
		meta.property("name").is(text) && meta.property("generateName").is(text) {
		return n
	}
	var name, generateName *node
	if meta != nil {
		name, generateName = meta.property("name"), meta.property("generateName")
	}
	str := &node{kind: text}
	out := *n
	out.properties = []property{{"apiVersion", str}, {"kind", str}, {"metadata", &node{kind: object, properties: []property{
		{"generateName", cappedName(generateName, maxGenerateName)}, {"name", cappedName(name, maxName)},
	}}}}
	for _, p := range n.properties {
		if !isMeta(p.name) {
			out.properties = append(out.properties, p)
		}
	}
	slices.SortFunc(out.properties, func(a, b property) int { return strings.Compare(a.name, b.name) })
	return &out
}

func (n *node) is(k kind) bool { return n != nil && n.kind == k }

// cappedName returns the schema of a name with a maximum length, or with that of have if it is
// shorter.
func cappedName(have *node, most int64) *node {
	if have != nil && have.checks != nil && have.checks.sizes != nil && have.checks.sizes.maxLength != nil {
		most = min(most, *have.checks.sizes.maxLength)
	}
	return &node{kind: text, checks: &checks{sizes: &sizes{maxLength: &most}}}
}
