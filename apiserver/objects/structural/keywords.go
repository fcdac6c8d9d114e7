package structural

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// keywords is a schema as its author wrote it, the JSONSchemaProps of apiextensions.k8s.io/v1.
// Pointers are nil for keywords that are absent.
type keywords struct {
	typ, format, pattern               string
	title, description                 string
	ref                                *string
	nullable, uniqueItems              bool
	exclusiveMaximum, exclusiveMinimum bool
	dflt                               *value
	maximum, minimum, multipleOf       *float64
	maxLength, minLength               *int64
	maxItems, minItems                 *int64
	maxProperties, minProperties       *int64
	enum                               []value
	required                           []string
	items                              *keywords
	itemList                           []*keywords
	allOf, anyOf, oneOf                []*keywords
	not                                *keywords
	properties                         []named // sorted by name
	additional                         *additional
	forbidden                          []string // keywords that no schema may use, in the order of their checks
	dependencies                       bool
	preserve                           *bool
	embedded, intOrString              bool
	listType, mapType                  *string
	listMapKeys                        []string
	rules                              []*Rule
	hasExample, hasDocs                bool
}

// named is a property of a schema.
type named struct {
	name   string
	schema *keywords
}

// additional is the keyword additionalProperties: a boolean, or a schema.
type additional struct {
	allowed bool
	schema  *keywords
}

// Rule is an item of x-kubernetes-validations.
type Rule struct {
	Rule, Message, MessageExpression string

	Reason          *string
	FieldPath       string
	OptionalOldSelf *bool
}

// property returns the schema of a property, or nil.
func (k *keywords) property(name string) *keywords {
	if k == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(k.properties, name, func(p named, name string) int { return cmp.Compare(p.name, name) })
	if !ok {
		return nil
	}
	return k.properties[i].schema
}

// TypeError reports a keyword whose value has the wrong JSON type, so that the schema cannot be
// decoded.
type TypeError struct {
	Path string
	Want string
	Have string
}

func (e *TypeError) Error() string {
	return fmt.Sprintf("%s: expected %s, got %s", e.Path, e.Want, e.Have)
}

// reader decodes a schema.
type reader struct {
	unknown      []string // paths of keywords that do not exist
	unknownBytes int
	err          error // the first one
}

// mismatch records that a keyword's value has the wrong type.
func (r *reader) mismatch(path *field.Path, want string, v *value) {
	if r.err == nil {
		r.err = &TypeError{path.String(), want, v.kind.String()}
	}
}

// notFound records a keyword that does not exist, unless the bounds of errors are reached.
func (r *reader) notFound(path *field.Path) {
	if len(r.unknown) < maxErrors && r.unknownBytes < maxErrorBytes {
		r.unknown = append(r.unknown, path.String())
		r.unknownBytes += len(r.unknown[len(r.unknown)-1])
	}
}

// schema decodes a schema.
func (r *reader) schema(v *value, path *field.Path) *keywords {
	if v.kind == null {
		return nil
	}
	if v.kind != object {
		r.mismatch(path, "object", v)
		return nil
	}
	k := &keywords{}
	for i := range v.kids {
		m := &v.kids[i]
		if m.kind == null && m.name != "default" && m.name != "example" {
			continue
		}
		at := path.Child(m.name)
		if !r.scalar(k, m, at) && !r.structure(k, m, at) && !r.extension(k, m, at) {
			r.notFound(at)
		}
	}
	return k
}

// scalar decodes a keyword whose value has no schemas, and reports whether m is one.
func (r *reader) scalar(k *keywords, m *member, at *field.Path) bool {
	v := &m.value
	switch m.name {
	case "type":
		k.typ = r.str(v, at)
	case "format":
		k.format = r.str(v, at)
	case "pattern":
		k.pattern = r.str(v, at)
	case "title":
		k.title = r.str(v, at)
	case "description":
		k.description = r.str(v, at)
	case "nullable":
		k.nullable = r.boolean(v, at)
	case "uniqueItems":
		k.uniqueItems = r.boolean(v, at)
	case "exclusiveMaximum":
		k.exclusiveMaximum = r.boolean(v, at)
	case "exclusiveMinimum":
		k.exclusiveMinimum = r.boolean(v, at)
	case "maximum":
		k.maximum = r.number(v, at)
	case "minimum":
		k.minimum = r.number(v, at)
	case "multipleOf":
		k.multipleOf = r.number(v, at)
	case "maxLength":
		k.maxLength = r.integer(v, at)
	case "minLength":
		k.minLength = r.integer(v, at)
	case "maxItems":
		k.maxItems = r.integer(v, at)
	case "minItems":
		k.minItems = r.integer(v, at)
	case "maxProperties":
		k.maxProperties = r.integer(v, at)
	case "minProperties":
		k.minProperties = r.integer(v, at)
	case "required":
		k.required = r.strings(v, at)
	case "enum":
		for i := range r.list(v, at) {
			k.enum = append(k.enum, v.kids[i].clone())
		}
	case "default":
		if v.kind != null {
			c := v.clone()
			k.dflt = &c
		}
	case "example":
		k.hasExample = true
	case "externalDocs":
		k.hasDocs = true
	case "id", "$schema":
		if r.str(v, at) != "" {
			k.forbidden = append(k.forbidden, m.name)
		}
	case "$ref":
		s := r.str(v, at)
		k.ref = &s
	default:
		return false
	}
	return true
}

// structure decodes a keyword whose value consists of schemas, and reports whether m is one.
func (r *reader) structure(k *keywords, m *member, at *field.Path) bool {
	v := &m.value
	switch m.name {
	case "items":
		if v.kind == array {
			k.itemList = r.schemas(v, at)
		} else {
			k.items = r.schema(v, at)
		}
	case "allOf":
		k.allOf = r.schemas(v, at)
	case "anyOf":
		k.anyOf = r.schemas(v, at)
	case "oneOf":
		k.oneOf = r.schemas(v, at)
	case "not":
		k.not = r.schema(v, at)
	case "properties":
		if v.kind != object {
			r.mismatch(at, "object", v)
		}
		for i := range v.kids {
			schema := r.schema(&v.kids[i].value, at.Key(v.kids[i].name))
			if schema == nil {
				schema = &keywords{}
			}
			k.properties = append(k.properties, named{strings.Clone(v.kids[i].name), schema})
		}
	case "additionalProperties":
		if v.kind == boolean {
			k.additional = &additional{allowed: v.text == "true"}
		} else {
			k.additional = &additional{allowed: true, schema: r.schema(v, at)}
		}
	case "patternProperties", "definitions", "additionalItems":
		if v.kind != object || len(v.kids) > 0 || m.name == "additionalItems" {
			k.forbidden = append(k.forbidden, m.name)
		}
	case "dependencies":
		k.dependencies = true
	default:
		return false
	}
	return true
}

// extension decodes a keyword of Kubernetes, and reports whether m is one.
func (r *reader) extension(k *keywords, m *member, at *field.Path) bool {
	v := &m.value
	switch strings.TrimPrefix(m.name, "x-kubernetes-") {
	case m.name:
		return false
	case "preserve-unknown-fields":
		b := r.boolean(v, at)
		k.preserve = &b
	case "embedded-resource":
		k.embedded = r.boolean(v, at)
	case "int-or-string":
		k.intOrString = r.boolean(v, at)
	case "list-type":
		s := r.str(v, at)
		k.listType = &s
	case "map-type":
		s := r.str(v, at)
		k.mapType = &s
	case "list-map-keys":
		k.listMapKeys = r.strings(v, at)
	case "validations":
		for i := range r.list(v, at) {
			k.rules = append(k.rules, r.rule(&v.kids[i].value, at.Index(i)))
		}
	default:
		return false
	}
	return true
}

func (r *reader) rule(v *value, path *field.Path) *Rule {
	rule := &Rule{}
	if v.kind != object {
		r.mismatch(path, "object", v)
	}
	for i := range v.kids {
		m := &v.kids[i]
		at := path.Child(m.name)
		if m.kind == null {
			continue
		}
		switch m.name {
		case "rule":
			rule.Rule = r.str(&m.value, at)
		case "message":
			rule.Message = r.str(&m.value, at)
		case "messageExpression":
			rule.MessageExpression = r.str(&m.value, at)
		case "fieldPath":
			rule.FieldPath = r.str(&m.value, at)
		case "reason":
			s := r.str(&m.value, at)
			rule.Reason = &s
		case "optionalOldSelf":
			b := r.boolean(&m.value, at)
			rule.OptionalOldSelf = &b
		default:
			r.notFound(at)
		}
	}
	return rule
}

func (r *reader) schemas(v *value, path *field.Path) []*keywords {
	var out []*keywords
	for i := range r.list(v, path) {
		schema := r.schema(&v.kids[i].value, path.Index(i))
		if schema == nil {
			schema = &keywords{}
		}
		out = append(out, schema)
	}
	return out
}

func (r *reader) list(v *value, path *field.Path) []member {
	if v.kind != array {
		r.mismatch(path, "array", v)
		return nil
	}
	return v.kids
}

func (r *reader) strings(v *value, path *field.Path) []string {
	var out []string
	for i := range r.list(v, path) {
		out = append(out, r.str(&v.kids[i].value, path.Index(i)))
	}
	return out
}

func (r *reader) str(v *value, path *field.Path) string {
	if v.kind != text {
		r.mismatch(path, "string", v)
		return ""
	}
	return strings.Clone(v.text)
}

func (r *reader) boolean(v *value, path *field.Path) bool {
	if v.kind != boolean {
		r.mismatch(path, "boolean", v)
	}
	return v.text == "true"
}

func (r *reader) number(v *value, path *field.Path) *float64 {
	f, err := strconv.ParseFloat(v.text, 64)
	if v.kind != number || err != nil || math.IsInf(f, 0) {
		r.mismatch(path, "number", v)
		return nil
	}
	return &f
}

func (r *reader) integer(v *value, path *field.Path) *int64 {
	n, ok := v.whole()
	if v.kind != number || !ok {
		r.mismatch(path, "integer", v)
		return nil
	}
	return &n
}
