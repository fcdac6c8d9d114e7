package schema

import (
	"errors"
	"slices"

	"quorate/apiserver/limit"
)

// checkUnion checks that the JSON of a union says which of its fields is set: each has another
// form, and none of them is a scalar other than a boolean.
func (m *Message) checkUnion() error {
	if !m.Spec.Union {
		return nil
	}
	var forms []Form
	for _, f := range m.fields {
		switch f.Type.Form {
		case FormBool, FormList, FormMessage:
		default:
			return errors.New("union: field " + f.Name + " is not a boolean, a list or a message")
		}
		if slices.Contains(forms, f.Type.Form) {
			return errors.New("union: two fields have the form of " + f.Name)
		}
		forms = append(forms, f.Type.Form)
	}
	return nil
}

// ofForm returns the field of a union with a form, or nil.
func (m *Message) ofForm(form Form) *Field {
	for _, f := range m.fields {
		if f.Type.Form == form {
			return f
		}
	}
	return nil
}

// readUnion reads a value that begins with c as the field of a union that has its form. A boolean
// field is true if another field is set.
func (d *decoder) readUnion(t *Type, c byte, depth int) (*Value, error) {
	m := t.message
	form := FormBool
	switch c {
	case '{':
		form = FormMessage
	case '[':
		form = FormList
	}
	f := m.ofForm(form)
	if f == nil {
		return nil, d.wrongType(c, t, depth)
	}
	if d.taken += len(m.fields); d.taken > maxSlots {
		return nil, limit.Reached(limit.Fields, d.malformed("the object holds too many messages", d.pos))
	}
	v := d.value(t)
	v.box = d.box()
	v.box.kids = d.take(len(m.fields))
	kid, err := d.read(f.Type, depth)
	if err != nil {
		return nil, err
	}
	v.box.kids[f.index] = kid
	if other := m.ofForm(FormBool); other != nil && other != f {
		b := d.value(other.Type)
		b.num = 1
		v.box.kids[other.index] = b
	}
	return v, nil
}

// member returns the field of a union whose value is its JSON, or nil if that is null: a list with
// items, otherwise a message that is set, otherwise the boolean.
func (v *Value) member() *Field {
	m := v.typ.message
	if f := m.ofForm(FormList); f != nil && v.box.kids[f.index].Len() > 0 {
		return f
	}
	if f := m.ofForm(FormMessage); f != nil && v.box.kids[f.index] != nil {
		return f
	}
	return m.ofForm(FormBool)
}

// isNull reports whether the value is a union that JSON has as null.
func (v *Value) isNull() bool { return v.typ.message.Spec.Union && v.member() == nil }

// union writes the value of the field that is set.
func (w *writer) union(v *Value) {
	f := v.member()
	switch {
	case f == nil:
		w.out = append(w.out, "null"...)
	case v.box.kids[f.index] == nil:
		w.out = append(w.out, "false"...)
	default:
		w.value(v.box.kids[f.index])
	}
}
