package schema

import (
	"fmt"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// New returns an empty value of the type.
func (t *Type) New() *Value {
	v := &Value{typ: t}
	switch t.Form {
	case FormMessage:
		v.box = &box{kids: make([]*Value, len(t.message.fields))}
	case FormList, FormMap:
		v.box = &box{}
	case FormQuantity:
		v.str = "0"
	case FormRaw:
		v.str = "null"
	}
	return v
}

// SetStr sets a string or bytes, or makes an intOrString hold text.
func (v *Value) SetStr(s string) {
	v.str, v.num = s, 0
	if v.typ.Form == FormIntOrString {
		v.box = textual
	}
}

// SetInt sets an integer, the Unix seconds of a time or the Unix microseconds of a microTime, or
// makes an intOrString hold a number.
func (v *Value) SetInt(n int64) {
	v.num = n
	if v.typ.Form == FormIntOrString {
		v.str, v.box = "", nil
	}
}

// SetBool sets a boolean.
func (v *Value) SetBool(b bool) {
	v.num = 0
	if b {
		v.num = 1
	}
}

// SetFloat sets a double.
func (v *Value) SetFloat(f float64) { v.num = int64(math.Float64bits(f)) }

// SetTime sets a time, truncated to seconds or microseconds.
func (v *Value) SetTime(t time.Time) {
	if v.typ.Form == FormMicroTime {
		v.num = t.UnixMicro()
		return
	}
	v.num = t.Unix()
}

// SetQuantity sets a quantity.
func (v *Value) SetQuantity(q resource.Quantity) { v.str = quantityText(q) }

// Make returns a field of a message. If the field is unset, Make sets it to an empty value first.
// It panics if the message has no field with that name; where the message depends on the context,
// check with Type().Message().Field.
func (v *Value) Make(name string) *Value {
	f := v.mustField(name)
	if v.box.kids[f.index] == nil {
		v.box.kids[f.index] = f.Type.New()
	}
	return v.box.kids[f.index]
}

// Set sets a field of a message; nil unsets it. It panics if the message has no field with that
// name.
func (v *Value) Set(name string, value *Value) {
	f := v.mustField(name)
	if value != nil && value.typ != f.Type {
		value = value.retype(f.Type)
	}
	v.box.kids[f.index] = value
}

// Clear unsets a field of a message. It does nothing if the message has no field with that name.
func (v *Value) Clear(name string) {
	if f := v.typ.message.byName[name]; f != nil {
		v.box.kids[f.index] = nil
	}
}

func (v *Value) mustField(name string) *Field {
	f := v.typ.message.byName[name]
	if f == nil {
		panic(fmt.Sprintf("schema: message %s has no field %q here", v.typ.message.Name, name))
	}
	return f
}

// retype returns a copy of v with type t, which is the same message compiled for other contexts. It
// omits fields that t does not have.
func (v *Value) retype(t *Type) *Value {
	if v == nil {
		return nil
	}
	if v.typ.Form != t.Form {
		panic(fmt.Sprintf("schema: value of form %d set where form %d belongs", v.typ.Form, t.Form))
	}
	out := t.New()
	out.str, out.num = v.str, v.num
	switch t.Form {
	case FormMessage:
		for i, f := range v.typ.message.fields {
			if to := t.message.byName[f.Name]; to != nil {
				out.box.kids[to.index] = v.box.kids[i].retype(to.Type)
			}
		}
	case FormList, FormMap:
		out.box.keys = slices.Clone(v.box.keys)
		for _, kid := range v.box.kids {
			out.box.kids = append(out.box.kids, kid.retype(t.elem))
		}
	default:
		out.box = v.box
	}
	return out
}

// Append adds an empty item to a list and returns it.
func (v *Value) Append() *Value {
	item := v.typ.elem.New()
	v.box.kids = append(v.box.kids, item)
	return item
}

// AppendValue adds an item to a list.
func (v *Value) AppendValue(item *Value) {
	if item.typ != v.typ.elem {
		item = item.retype(v.typ.elem)
	}
	v.box.kids = append(v.box.kids, item)
}

// SetItems replaces the items of a list. It retains the slice.
func (v *Value) SetItems(items []*Value) { v.box.kids = items }

// RemoveAt removes an item of a list.
func (v *Value) RemoveAt(i int) { v.box.kids = slices.Delete(v.box.kids, i, i+1) }

// Put returns the entry of a map with a key. It adds an empty entry if there is none.
func (v *Value) Put(key string) *Value {
	i, ok := slices.BinarySearch(v.box.keys, key)
	if !ok {
		v.box.keys = slices.Insert(v.box.keys, i, key)
		v.box.kids = slices.Insert(v.box.kids, i, v.typ.elem.New())
	}
	return v.box.kids[i]
}

// Delete removes an entry of a map.
func (v *Value) Delete(key string) {
	if i, ok := slices.BinarySearch(v.box.keys, key); ok {
		v.box.keys = slices.Delete(v.box.keys, i, i+1)
		v.box.kids = slices.Delete(v.box.kids, i, i+1)
	}
}
