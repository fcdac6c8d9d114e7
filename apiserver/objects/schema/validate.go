package schema

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

const immutableText = "field is immutable"

// ValidateCreate validates a new object, whose name must be set, and returns all errors in the
// order of the fields.
func (k *Kind) ValidateCreate(o *Object) field.ErrorList {
	c := newContext(k, Create, o, nil)
	c.validate()
	return c.end()
}

// ValidateUpdate validates an object that is to replace old and returns all errors.
func (k *Kind) ValidateUpdate(op Operation, o, old *Object) field.ErrorList {
	c := newContext(k, op, o, old)
	c.validate()
	return c.end()
}

// Validate validates a message that is not an object of a kind, such as DeleteOptions. Hooks get a
// Context whose Kind and Object are nil.
func (m *Message) Validate(v *Value) field.ErrorList {
	c := &Context{root: v}
	c.steps = c.space[:0]
	c.checkMessage(v)
	return c.errs
}

func (c *Context) validate() {
	c.checkMeta()
	m := c.Kind.Message
	for _, validate := range m.validators {
		validate(c, c.Object.root)
	}
	for i := c.Kind.slots.metadata + 1; i < len(m.fields); i++ {
		c.checkField(m.fields[i], c.Object.root)
	}
	for _, validate := range c.Kind.hooks.validators {
		validate(c, c.Object.root)
	}
	if c.Kind.custom != nil {
		c.validateCustom()
	}
	if c.Old == nil {
		return
	}
	for i := c.Kind.slots.metadata + 1; i < len(m.fields); i++ {
		f := m.fields[i]
		c.compareField(f, c.Object.root.box.kids[i], c.Old.root.box.kids[i])
	}
	for _, compare := range c.Kind.hooks.validateUpdate {
		compare(c, c.Object.root, c.Old.root)
	}
}

func (c *Context) checkMessage(v *Value) {
	m := v.typ.message
	if m.Name == metaMessage {
		c.checkEmbeddedMeta(v)
		return
	}
	for _, validate := range m.validators {
		validate(c, v)
	}
	for _, f := range m.fields {
		c.checkField(f, v)
	}
}

// checkField checks a field of message parent and the values below it.
func (c *Context) checkField(f *Field, parent *Value) {
	deep := f.below != nil && f.below.checks
	if !deep && f.check == nil && !f.required && f.requiredIf == nil {
		return
	}
	v := parent.box.kids[f.index]
	if f.vacant(v) && (f.required || f.requiredIf != nil && f.requiredIf(c, parent)) {
		c.checkMissing(f, v)
		return
	}
	if v == nil || !f.pointer && f.Type.Form != FormMessage && v.IsEmpty() {
		return
	}
	c.EnterField(f.Name, v)
	if f.check != nil {
		f.check.run(c, v)
	}
	if deep {
		c.checkBelow(v)
	}
	c.Leave()
}

// checkMissing reports a required field that is empty. If the field is a message that is always
// encoded, it reports the missing required fields of that message instead, if there are any.
func (c *Context) checkMissing(f *Field, v *Value) {
	before := len(c.errs)
	c.EnterField(f.Name, v)
	if f.Type.Form == FormMessage && !f.pointer {
		if v == nil {
			v = f.Type.New()
			c.steps[len(c.steps)-1].at = v
		}
		c.checkMessage(v)
	}
	if len(c.errs) == before {
		c.Required("")
	}
	c.Leave()
}

func (c *Context) checkBelow(v *Value) {
	switch v.typ.Form {
	case FormMessage:
		c.checkMessage(v)
	case FormList:
		for i, item := range v.box.kids {
			c.EnterIndex(i, item)
			c.checkBelow(item)
			c.Leave()
		}
	case FormMap:
		for i, key := range v.box.keys {
			c.EnterKey(key, v.box.kids[i])
			c.checkBelow(v.box.kids[i])
			c.Leave()
		}
	}
}

// compareField compares a field with its stored value if it is immutable. It does the same for the
// fields of messages below it, except in lists.
func (c *Context) compareField(f *Field, v, old *Value) {
	deep := f.Type.message != nil && f.Type.message.immutables
	if !f.immutable && f.compare == nil && !deep || v == nil && old == nil {
		return
	}
	c.EnterField(f.Name, v)
	defer c.Leave()
	if f.immutable && (!Equal(v, old) || f.pointer && (v == nil) != (old == nil)) {
		c.Invalid(v, immutableText)
		return
	}
	if f.compare != nil {
		f.compare(c, v, old)
	}
	if !deep {
		return
	}
	for i, inner := range f.Type.message.fields {
		c.compareField(inner, v.slot(i), old.slot(i))
	}
}

// slot returns the field at an index, or nil if the message or field is unset.
func (v *Value) slot(i int) *Value {
	if v == nil {
		return nil
	}
	return v.box.kids[i]
}

// nameRule is the rule that names of a kind's objects must follow.
type nameRule struct {
	format format
	max    int
}

func compileNameRule(spec NameRuleSpec, formats map[string]format) (nameRule, error) {
	name := orElse(spec.Format, "dns1123Subdomain")
	f, ok := formats[name]
	if !ok {
		return nameRule{}, fmt.Errorf("nameRule: there is no format %q", name)
	}
	return nameRule{f, spec.Max}, nil
}

// check returns the reasons why a name is invalid. If prefix is set, name is the prefix of a
// generated name.
func (r *nameRule) check(name string, prefix bool) []string {
	if n := len(name); prefix && n > 1 && name[n-1] == '-' {
		name = name[:n-2] + "a" // a trailing dash is valid, because generated characters follow it
	}
	var why []string
	if r.max > 0 && len(name) > r.max {
		why = append(why, fmt.Sprintf("must be no more than %d characters", r.max))
	}
	return append(why, r.format.check(name)...)
}
