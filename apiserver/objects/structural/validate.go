package structural

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/limit"
	"quorate/apiserver/objects/expression"
)

// validator validates the values of one object against the keywords that restrict values. It
// reports the errors that Kubernetes reports, in the same words.
//
// On update, it ignores an error in a value that did not change, so that a schema may become
// stricter while objects exist. That requires a corresponding value in the old object. Members of
// objects have one, and items of lists with the x-kubernetes-list-type map.
type validator struct {
	base     *field.Path
	path     []validStep
	errs     []problem
	programs *expression.Programs
	more     bool // there are errors that are not kept
	steps    int  // spent on the validation
	// asWritten says that the value is a default, which Kubernetes checks against the schema as it
	// is written: with formats that it otherwise ignores, and x-kubernetes-int-or-string as no
	// type.
	asWritten bool
	passed    int // how many checks nested schemas passed: the best alternative of anyOf and oneOf has most
}

// validStep is a step to the value being validated. A member that additionalProperties describes is
// dotted: its name follows a dot even at the root.
type validStep struct {
	step
	dotted bool
}

// maxSteps bounds the work of validating one object. A step is a value checked against one schema,
// a comparison with one value of an enum, a required field, four instructions of a pattern for one
// byte, or a byte in the text of an error. Without the bound an object takes steps in proportion to
// the product of its size and that of the schema, which can be 10^12.
const maxSteps = 20_000_000

// spend counts steps, and reports whether the validation goes on.
func (v *validator) spend(steps int) bool {
	if v.steps <= maxSteps {
		v.steps += steps
	}
	return v.steps <= maxSteps
}

// problem is an error and its text, by which equal errors are recognized.
type problem struct {
	text  string
	err   *field.Error
	total int // bytes of its text and of those before it
}

// maxPathBytes bounds the path of an error. A longer one is cut.
const maxPathBytes = 4 << 10

// at returns the path of the current value.
func (v *validator) at() string {
	var b strings.Builder
	for _, s := range v.path {
		if b.Len()+len(s.name) > maxPathBytes {
			b.WriteString("...")
			break
		}
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

// room reports whether another error is kept. If not, it records that there is one: an error that
// is kept only goes along with all that follow it, so that the object is invalid in any case.
func (v *validator) room() bool {
	n := len(v.errs)
	if n < maxErrors && (n == 0 || v.errs[n-1].total < maxErrorBytes) {
		return true
	}
	v.more = true
	return false
}

// fail adds an error about the value at a path. The texts name the path themselves.
func (v *validator) fail(text string, err *field.Error) {
	if !v.spend(len(text)) || !v.room() {
		return
	}
	p := problem{text, err, len(text)}
	if n := len(v.errs); n > 0 {
		p.total += v.errs[n-1].total
	}
	v.errs = append(v.errs, p)
}

// failAll adds errors.
func (v *validator) failAll(problems []problem) {
	for _, p := range problems {
		v.fail(p.text, p.err)
	}
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
	if v.steps > maxSteps {
		err := field.Invalid(v.base, field.OmitValueType{}, fmt.Sprintf("takes more than %d steps to validate", maxSteps))
		return append(out, err.WithOrigin(limit.ValidationSteps.Origin()))
	}
	if v.more && len(out) > 0 {
		out = append(out, omitted)
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
	if !n.checked || !v.spend(1) {
		return
	}
	before, more := len(v.errs), v.more
	v.changed(val, n, c)
	if len(v.errs) > before && c.node != nil && unchanged(c.node, val, c.old) {
		v.errs, v.more = v.errs[:before], more
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
	if v.asWritten || c.checksFormat {
		return c.format
	}
	return ""
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
	if !v.spend(len(c.required)) {
		return
	}
	for _, name := range c.required {
		if val.member(name) == nil && v.room() {
			path := v.at() + "." + name
			v.fail(path+" in body is required", field.Required(v.field(path), ""))
		}
	}
}

// nested validates a value against a schema inside of allOf, anyOf, oneOf or not. It reports errors
// also in what did not change.
func (v *validator) nested(val *value, n *nested) {
	if !v.spend(1) {
		return
	}
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
	_, ok := slices.BinarySearchFunc(n.properties, name, func(p nestedProperty, name string) int { return cmp.Compare(p.name, name) })
	return ok
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
	if !v.room() {
		return
	}
	path := v.at()
	detail := path + " in body must be of type " + want + ": " + strconv.Quote(have)
	v.fail(detail, field.TypeInvalid(v.field(path), have, detail))
}
