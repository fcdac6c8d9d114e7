package schema

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Context is the request as hooks see it. It belongs to one goroutine.
//
// A Context has a current place in the object. Reports are about that place, or about one below it
// that rest names: field names (string), list indexes (int) and map keys (Key). It builds paths
// only for reports.
type Context struct {
	Kind      *Kind
	Operation Operation
	Object    *Object
	Old       *Object // the stored object; nil on Create

	root  *Value // where paths begin
	steps []step
	errs  field.ErrorList
	space [16]step
}

// Key is a map key in a relative path.
type Key string

type stepForm uint8

const (
	stepField stepForm = iota
	stepIndex
	stepKey
)

// step leads from one value to the next one below it.
type step struct {
	name  string
	index int32
	form  stepForm
	at    *Value // where the step leads; nil when that is unset
}

func newContext(k *Kind, op Operation, o, old *Object) *Context {
	c := &Context{Kind: k, Operation: op, Object: o, Old: old, root: o.root}
	c.steps = c.space[:0]
	return c
}

// EnterField moves to a field of the message here. Every Enter needs its Leave.
func (c *Context) EnterField(name string, v *Value) {
	c.steps = append(c.steps, step{name: name, form: stepField, at: v})
}

// EnterIndex moves to an item of the list here.
func (c *Context) EnterIndex(i int, v *Value) {
	c.steps = append(c.steps, step{index: int32(i), form: stepIndex, at: v})
}

// EnterKey moves to an entry of the map here.
func (c *Context) EnterKey(key string, v *Value) {
	c.steps = append(c.steps, step{name: key, form: stepKey, at: v})
}

// Leave moves back.
func (c *Context) Leave() { c.steps = c.steps[:len(c.steps)-1] }

// Enclosing returns the nearest message of that name at or above this place; nil when there is
// none.
func (c *Context) Enclosing(message string) *Value {
	for i := len(c.steps) - 1; i >= 0; i-- {
		if v := c.steps[i].at; v != nil && v.typ.message != nil && v.typ.message.Name == message {
			return v
		}
	}
	if c.root.typ.message.Name == message {
		return c.root
	}
	return nil
}

// Parent returns the nearest message above this place: the one that holds the field. It is the root
// for fields of the root.
func (c *Context) Parent() *Value {
	for i := len(c.steps) - 2; i >= 0; i-- {
		if v := c.steps[i].at; v != nil && v.typ.message != nil {
			return v
		}
	}
	return c.root
}

// FieldName returns the name of the nearest field at or above this place; "" at the root.
func (c *Context) FieldName() string {
	for i := len(c.steps) - 1; i >= 0; i-- {
		if c.steps[i].form == stepField {
			return c.steps[i].name
		}
	}
	return ""
}

// Under reports whether this place lies in the root's field of that name, such as "status".
func (c *Context) Under(rootField string) bool {
	return len(c.steps) > 0 && c.steps[0].name == rootField
}

// Path returns this place, extended by rest. It allocates: call it only to report.
func (c *Context) Path(rest ...any) *field.Path {
	var p *field.Path
	for _, s := range c.steps {
		switch {
		case s.form == stepIndex:
			p = p.Index(int(s.index))
		case s.form == stepKey:
			p = p.Key(s.name)
		default:
			p = p.Child(s.name)
		}
	}
	for _, r := range rest {
		switch r := r.(type) {
		case int:
			p = p.Index(r)
		case Key:
			p = p.Key(string(r))
		case string:
			p = p.Child(r)
		}
	}
	return p
}

// Report adds an error that the caller made.
func (c *Context) Report(err *field.Error) { c.errs = append(c.errs, err) }

// Required reports a missing value.
func (c *Context) Required(detail string, rest ...any) {
	c.Report(field.Required(c.Path(rest...), detail))
}

// Invalid reports a malformed value. value is a scalar, a *Value or anything that marshals to JSON.
func (c *Context) Invalid(value any, detail string, rest ...any) {
	c.Report(field.Invalid(c.Path(rest...), plain(value), detail))
}

// NotSupported reports a value outside of an enumeration.
func (c *Context) NotSupported(value any, valid []string, rest ...any) {
	c.Report(field.NotSupported(c.Path(rest...), plain(value), valid))
}

// Duplicate reports a value that should be unique.
func (c *Context) Duplicate(value any, rest ...any) {
	c.Report(field.Duplicate(c.Path(rest...), plain(value)))
}

// Forbidden reports a value that is not permitted here.
func (c *Context) Forbidden(detail string, rest ...any) {
	c.Report(field.Forbidden(c.Path(rest...), detail))
}

// TooLong reports a value of more than maxLen bytes.
func (c *Context) TooLong(maxLen int, rest ...any) {
	c.Report(field.TooLong(c.Path(rest...), "", maxLen))
}

// NotFound reports a reference to nothing.
func (c *Context) NotFound(value any, rest ...any) {
	c.Report(field.NotFound(c.Path(rest...), plain(value)))
}

// plain converts a Value to the form that field errors print as Kubernetes does: scalars as they
// are, the rest as JSON.
func plain(value any) any {
	v, ok := value.(*Value)
	if !ok {
		return value
	}
	if v == nil {
		return nil
	}
	switch v.typ.Form {
	case FormString, FormQuantity:
		return v.str
	case FormBool:
		return v.num != 0
	case FormInt32, FormInt64, FormUint32:
		return v.num
	default:
		return jsonText(v.AppendJSON(nil))
	}
}

// jsonText is JSON text that marshals to itself.
type jsonText []byte

func (t jsonText) MarshalJSON() ([]byte, error) { return t, nil }
