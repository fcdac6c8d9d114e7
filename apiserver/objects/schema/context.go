package schema

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Context gives a hook the request's objects and collects the errors that the hook reports. Only
// one goroutine may use a Context, and only until the hook returns.
//
// A Context has a current position in the object. The methods that report errors report them at
// this position, or at the one below it that their parameter rest gives as field names (string),
// list indexes (int) and map keys (Key). Field paths are built only when an error is reported.
type Context struct {
	Kind      *Kind
	Operation Operation
	Object    *Object
	Old       *Object // the stored object; nil on Create

	root  *Value // the value at which paths begin
	steps []step
	errs  field.ErrorList // from the maxErrors-th on all are surplus
	space [16]step
}

// maxErrors bounds the errors of one object that are kept. A body of 3 MiB can have a million,
// which take a kilobyte each, and no answer names more (maxCauses in package status).
const maxErrors = 1000

// surplus stands for each error beyond maxErrors, so that they are counted.
var surplus = &field.Error{Type: field.ErrorTypeInvalid, Detail: "omitted"}

// Key is a map key in a relative path.
type Key string

type stepForm uint8

const (
	stepField stepForm = iota
	stepIndex
	stepKey
)

// step leads from a value to one directly below it.
type step struct {
	name  string
	index int32
	form  stepForm
	at    *Value // the value that the step leads to; nil if it is unset
}

// contexts is a pool of Contexts.
type contexts struct{ pool sync.Pool }

// newContext returns a Context of a pool. The caller must call end.
func newContext(k *Kind, op Operation, o, old *Object) *Context {
	c, ok := k.contexts.pool.Get().(*Context)
	if !ok {
		c = new(Context)
	}
	c.Kind, c.Operation, c.Object, c.Old, c.root = k, op, o, old, o.root
	c.steps = c.space[:0]
	return c
}

// end returns the errors that were reported, and the Context, cleared, to its pool.
func (c *Context) end() field.ErrorList {
	errs, pool := c.errs, &c.Kind.contexts.pool
	*c = Context{}
	pool.Put(c)
	return errs
}

// EnterField moves to a field of the current message. Each Enter method requires a matching Leave.
func (c *Context) EnterField(name string, v *Value) {
	c.steps = append(c.steps, step{name: name, form: stepField, at: v})
}

// EnterIndex moves to an item of the current list.
func (c *Context) EnterIndex(i int, v *Value) {
	c.steps = append(c.steps, step{index: int32(i), form: stepIndex, at: v})
}

// EnterKey moves to an entry of the current map.
func (c *Context) EnterKey(key string, v *Value) {
	c.steps = append(c.steps, step{name: key, form: stepKey, at: v})
}

// Leave moves back to where the last Enter method was called.
func (c *Context) Leave() { c.steps = c.steps[:len(c.steps)-1] }

// Enclosing returns the nearest message with the given name at or above the current position, or
// nil.
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

// Parent returns the message that contains the current field. For fields of the root, that is the
// root.
func (c *Context) Parent() *Value {
	for i := len(c.steps) - 2; i >= 0; i-- {
		if v := c.steps[i].at; v != nil && v.typ.message != nil {
			return v
		}
	}
	return c.root
}

// FieldName returns the name of the nearest field at or above the current position; "" at the root.
func (c *Context) FieldName() string {
	for i := len(c.steps) - 1; i >= 0; i-- {
		if c.steps[i].form == stepField {
			return c.steps[i].name
		}
	}
	return ""
}

// Under reports whether the current position is inside the root's field with that name, such as
// "status".
func (c *Context) Under(rootField string) bool {
	return len(c.steps) > 0 && c.steps[0].name == rootField
}

// Path returns the path of the current position, extended by rest. It allocates, so call it only to
// report an error.
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

// Report adds an error.
func (c *Context) Report(err *field.Error) {
	if !c.omits() {
		c.errs = append(c.errs, err)
	}
}

// omits reports whether there are so many errors that another one is only counted, which it does.
func (c *Context) omits() bool {
	if len(c.errs) < maxErrors {
		return false
	}
	c.errs = append(c.errs, surplus)
	return true
}

// Required reports a missing value.
func (c *Context) Required(detail string, rest ...any) {
	if !c.omits() {
		c.Report(field.Required(c.Path(rest...), detail))
	}
}

// Invalid reports a malformed value. value may be a scalar, a *Value or anything that encodes as
// JSON.
func (c *Context) Invalid(value any, detail string, rest ...any) {
	if !c.omits() {
		c.Report(field.Invalid(c.Path(rest...), plain(value), detail))
	}
}

// NotSupported reports a value outside of an enumeration.
func (c *Context) NotSupported(value any, valid []string, rest ...any) {
	if !c.omits() {
		c.Report(field.NotSupported(c.Path(rest...), plain(value), valid))
	}
}

// Duplicate reports a value that should be unique.
func (c *Context) Duplicate(value any, rest ...any) {
	if !c.omits() {
		c.Report(field.Duplicate(c.Path(rest...), plain(value)))
	}
}

// Forbidden reports a value that is not permitted here.
func (c *Context) Forbidden(detail string, rest ...any) {
	if !c.omits() {
		c.Report(field.Forbidden(c.Path(rest...), detail))
	}
}

// TooLong reports a value of more than maxLen bytes.
func (c *Context) TooLong(maxLen int, rest ...any) {
	if !c.omits() {
		c.Report(field.TooLong(c.Path(rest...), "", maxLen))
	}
}

// NotFound reports a reference to something that does not exist.
func (c *Context) NotFound(value any, rest ...any) {
	if !c.omits() {
		c.Report(field.NotFound(c.Path(rest...), plain(value)))
	}
}

// plain converts a *Value for a field error, which prints it as Kubernetes does: some scalars as Go
// values, everything else as JSON. It returns other values unchanged.
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

// jsonText is JSON text. It implements json.Marshaler.
type jsonText []byte

func (t jsonText) MarshalJSON() ([]byte, error) { return t, nil }
