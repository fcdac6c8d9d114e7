package structural

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validator validates the values of one object against the keywords that restrict values. It finds
// the errors that Kubernetes finds, in the same words.
//
// On update, an error in a value that did not change is ignored, so that a schema may become
// stricter while objects exist: the value must have a counterpart in the old object, which members
// of objects have, and items of lists with x-kubernetes-list-type map.
type validator struct {
	base *field.Path
	path []validStep
	errs []problem
	// asWritten says that the value is a default, which Kubernetes checks against the schema as it is
	// written: with formats that it otherwise ignores, and x-kubernetes-int-or-string as no type.
	asWritten bool
	passed    int // how many checks nested schemas passed: the best alternative of anyOf and oneOf has most
}

// validStep is a step to the value being validated. A member that additionalProperties describes is
// dotted: its name follows a dot even at the root.
type validStep struct {
	step
	dotted bool
}

// problem is an error and its text, by which equal errors are recognized.
type problem struct {
	text string
	err  *field.Error
}

// at returns the path of the current value.
func (v *validator) at() string {
	var b strings.Builder
	for _, s := range v.path {
		if s.dotted && b.Len() == 0 {
			b.WriteString("." + s.name)
			continue
		}
		s.appendTo(&b)
	}
	return b.String()
}

// field returns the field of an error about the value at a path.
func (v *validator) field(path string) *field.Path {
	if path == "" || path == "." {
		return v.base
	}
	return v.base.Child(strings.TrimPrefix(path, "."))
}

// fail adds an error about the value at a path. The texts name the path themselves.
func (v *validator) fail(text string, err *field.Error) {
	v.errs = append(v.errs, problem{text, err})
}

func (v *validator) invalid(path string, have any, text string) {
	v.fail(text, field.Invalid(v.field(path), have, text))
}

// whole adds an error about several keywords, which has no field of its own.
func (v *validator) whole(text string) {
	v.fail(text, field.Invalid(v.base, "", text))
}

// list returns the errors without repetitions.
func (v *validator) list() field.ErrorList {
	var out field.ErrorList
	seen := make(map[string]bool, len(v.errs))
	for _, p := range v.errs {
		if !seen[p.text] {
			seen[p.text] = true
			out = append(out, p.err)
		}
	}
	return out
}

// counterpart is a schema and the old value that corresponds to the current one. Its node is nil
// where there is no such value.
type counterpart struct {
	node *node
	old  *value
	root bool
}

// noChecks restrict nothing, but a number must be in the range of its type.
var noChecks checks

// node validates a value and the values below it, and ignores the errors if nothing changed.
func (v *validator) node(val *value, n *node, c counterpart) {
	if !n.checked {
		return
	}
	before := len(v.errs)
	v.changed(val, n, c)
	if len(v.errs) > before && c.node != nil && unchanged(c.node, val, c.old) {
		v.errs = v.errs[:before]
	}
}

func (v *validator) changed(val *value, n *node, c counterpart) {
	typ, alternative := n.kind, anyKind
	if n.intOrString && !v.asWritten {
		typ, alternative = integer, text
	}
	format := ""
	if n.checks != nil {
		format = v.format(n.checks)
	}
	v.typ(val, typ, alternative, format, n.nullable)
	switch {
	case val.kind == null:
		if n.checks != nil {
			v.enum(val, n.checks)
		}
		return
	case n.checks != nil:
		v.checks(val, n.checks, typ, alternative)
	case val.kind == number && alternative == anyKind:
		v.number(val, &noChecks, typ)
	}
	switch val.kind {
	case array:
		v.items(val, n.items, c)
	case object:
		v.members(val, n, c)
	}
}

// format returns the format that a value is checked for.
func (v *validator) format(c *checks) string {
	if v.asWritten {
		return c.celFormat
	}
	return c.format
}

func (v *validator) items(val *value, items *node, c counterpart) {
	if items == nil || !items.checked {
		return
	}
	old := c.list()
	v.path = append(v.path, validStep{})
	for i := range val.kids {
		v.path[len(v.path)-1].index = i
		v.node(&val.kids[i].value, items, c.item(old, &val.kids[i].value))
	}
	v.path = v.path[:len(v.path)-1]
}

// members validates the members of an object. Members and properties are both sorted by name.
func (v *validator) members(val *value, n *node, c counterpart) {
	properties := n.properties
	for i := range val.kids {
		kid := &val.kids[i]
		for len(properties) > 0 && properties[0].name < kid.name {
			properties = properties[1:]
		}
		schema, dotted := n.values, true
		if len(properties) > 0 && properties[0].name == kid.name {
			schema, dotted = properties[0].schema, false
		}
		switch {
		case schema != nil && schema.checked:
			v.path = append(v.path, validStep{step{kid.name, -1}, dotted})
			v.node(&kid.value, schema, c.member(kid.name))
			v.path = v.path[:len(v.path)-1]
		case schema == nil && n.additional == forbidden:
			path := v.at()
			v.invalid(path, kid.name, path+"."+kid.name+" in body is a forbidden property")
		}
	}
	if n.checks != nil {
		v.required(val, n.checks)
	}
}

func (v *validator) required(val *value, c *checks) {
	for _, name := range c.required {
		if val.member(name) == nil {
			path := v.at() + "." + name
			v.fail(path+" in body is required", field.Required(v.field(path), ""))
		}
	}
}

// nested validates a value against a schema inside of allOf, anyOf, oneOf or not. It reports errors
// also in what did not change.
func (v *validator) nested(val *value, n *nested) {
	v.passed++
	v.typ(val, n.checks.kind, anyKind, v.format(&n.checks), false)
	if val.kind == null {
		v.enum(val, &n.checks)
		v.passed--
		return
	}
	v.checks(val, &n.checks, n.checks.kind, anyKind)
	switch val.kind {
	case array:
		v.passed += 2
		if n.items == nil {
			return
		}
		v.path = append(v.path, validStep{})
		for i := range val.kids {
			v.path[len(v.path)-1].index = i
			v.nested(&val.kids[i].value, n.items)
		}
		v.path = v.path[:len(v.path)-1]
	case object:
		v.passed++
		for _, p := range n.properties {
			if m := val.member(p.name); m != nil {
				v.path = append(v.path, validStep{step{p.name, -1}, false})
				v.nested(m, p.schema)
				v.path = v.path[:len(v.path)-1]
			}
		}
		for i := range val.kids {
			if name := val.kids[i].name; n.closed && !n.has(name) {
				path := v.at()
				v.invalid(path, name, path+"."+name+" in body is a forbidden property")
			}
		}
		v.required(val, &n.checks)
	}
}

func (n *nested) has(name string) bool {
	for i := range n.properties {
		if n.properties[i].name == name {
			return true
		}
	}
	return false
}

// typ checks the type of a value: it must be typ or alternative, if those are not anyKind.
func (v *validator) typ(val *value, typ, alternative kind, format string, nullable bool) {
	if typ == anyKind && format == "" && val.kind != null {
		return
	}
	if val.kind == null {
		if typ != anyKind && !nullable {
			v.wrongType(typeNames(typ, alternative), "null")
			return
		}
		v.passed++
		return
	}
	v.passed++ // that the check applies
	have, sub := typeOf(val)
	fits := typ == have || alternative == have || have == integer && typ == number ||
		have == number && (typ == integer || alternative == integer) && integral(val.float())
	if format != "" && val.kind != text && val.kind != array && !fits && sub != format {
		v.wrongType(format, sub)
		return
	}
	// As in Kubernetes, a format replaces the type where both are about strings: a list passes.
	if typ != number && typ != integer && alternative != integer && format != "" && (val.kind == text || val.kind == array) {
		v.passed++
		return
	}
	if !fits {
		v.wrongType(typeNames(typ, alternative), have.String())
		return
	}
	v.passed++
}

// typeOf returns the type of a value and, of numbers, the format.
func typeOf(val *value) (k kind, format string) {
	if val.kind != number {
		return val.kind, ""
	}
	if _, ok := val.whole(); ok {
		return integer, "int64"
	}
	return number, "float64"
}

func typeNames(typ, alternative kind) string {
	if alternative == anyKind {
		return typ.String()
	}
	return typ.String() + "," + alternative.String()
}

func (v *validator) wrongType(want, have string) {
	path := v.at()
	detail := path + " in body must be of type " + want + ": " + strconv.Quote(have)
	v.fail(detail, field.TypeInvalid(v.field(path), have, detail))
}
