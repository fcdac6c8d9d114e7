package operations

import (
	"strconv"
	"strings"

	"quorate/apiserver/objects/patch/tree"
)

// value is a JSON value of the document. It is kept as text until an operation accesses its members
// or items.
type value struct {
	text   string
	object *object
	array  *array
}

// object is a JSON object that preserves the order of its members. Removing a member leaves a gap,
// so that the indexes of the other members stay valid.
type object struct {
	members []member
	places  map[string]int
	size    int
}

type member struct {
	name  string
	key   string // as in the document, with quotes and escapes
	value *value // nil for a gap
}

type array struct {
	items []*value
}

func (v *value) form() tree.Form {
	switch {
	case v.object != nil:
		return tree.Object
	case v.array != nil:
		return tree.Array
	}
	return tree.FormOf(v.text)
}

// open parses the members or items of an object or array, but not their contents.
func (v *value) open() {
	if v.object != nil || v.array != nil {
		return
	}
	switch tree.FormOf(v.text) {
	case tree.Object:
		v.object = &object{places: map[string]int{}}
		for m := tree.OpenMembers(v.text, 0); m.Next(); {
			end := tree.Skip(v.text, m.Value)
			v.object.add(m.Name, m.Key(), &value{text: v.text[m.Value:end]})
			m.Past(end)
		}
	case tree.Array:
		texts, _ := tree.Items(v.text, len(v.text))
		items, values := make([]*value, len(texts)), make([]value, len(texts))
		for i, text := range texts {
			values[i].text, items[i] = text, &values[i]
		}
		v.array = &array{items: items}
	}
}

func (o *object) get(name string) *value {
	if i, ok := o.places[name]; ok {
		return o.members[i].value
	}
	return nil
}

// set sets a member.
func (o *object) set(name string, v *value) {
	key := ""
	if _, ok := o.places[name]; !ok {
		key = tree.Quote(name)
	}
	o.add(name, key, v)
}

// add sets a member. If the object does not have it, add appends it with key as its JSON text.
func (o *object) add(name, key string, v *value) {
	if i, ok := o.places[name]; ok {
		o.members[i].value = v
		return
	}
	o.places[name] = len(o.members)
	o.members = append(o.members, member{name: name, key: key, value: v})
	o.size++
}

func (o *object) remove(name string) {
	i := o.places[name]
	delete(o.places, name)
	o.members[i] = member{}
	o.size--
}

// append appends the value's text. ok is false if the value is nested more deeply than any valid
// object.
func (v *value) append(out []byte, depth int) (_ []byte, ok bool) {
	if depth > tree.MaxDepth {
		return out, false
	}
	switch {
	case v.object != nil:
		out = append(out, '{')
		first := len(out)
		for _, m := range v.object.members {
			if m.value == nil {
				continue
			}
			out = append(append(tree.Comma(out, first), m.key...), ':')
			if out, ok = m.value.append(out, depth+1); !ok {
				return out, false
			}
		}
		return append(out, '}'), true
	case v.array != nil:
		out = append(out, '[')
		first := len(out)
		for _, item := range v.array.items {
			if out, ok = item.append(tree.Comma(out, first), depth+1); !ok {
				return out, false
			}
		}
		return append(out, ']'), true
	}
	return append(out, v.text...), true
}

// equal compares two values as RFC 6902 §4.6 defines: members in any order, strings after
// unescaping, numbers by value. Values that are nested too deeply are not equal to anything.
func (v *value) equal(w *value, depth int) bool {
	form := v.form()
	if form != w.form() || depth > tree.MaxDepth {
		return false
	}
	switch form {
	case tree.Object:
		v.open()
		w.open()
		if v.object.size != w.object.size {
			return false
		}
		for _, m := range v.object.members {
			if m.value == nil {
				continue
			}
			if other := w.object.get(m.name); other == nil || !m.value.equal(other, depth+1) {
				return false
			}
		}
		return true
	case tree.Array:
		v.open()
		w.open()
		if len(v.array.items) != len(w.array.items) {
			return false
		}
		for i, item := range v.array.items {
			if !item.equal(w.array.items[i], depth+1) {
				return false
			}
		}
		return true
	case tree.String:
		return v.text == w.text || sameString(v.text, w.text)
	case tree.Number:
		return v.text == w.text || sameNumber(v.text, w.text)
	}
	return v.text == w.text
}

// maxEscape is the maximum length of the escape sequence for one byte, such as \u0061.
const maxEscape = 6

// sameString compares two JSON strings whose texts differ. It compares their lengths first, so that
// the work is proportional to the patch, not to the document.
func sameString(a, b string) bool {
	if len(a) > maxEscape*len(b) || len(b) > maxEscape*len(a) {
		return false
	}
	return tree.Unquote(a) == tree.Unquote(b)
}

// sameNumber compares two JSON numbers whose texts differ. Integers without an exponent then
// differ, except 0 and -0. Other numbers are compared as float64.
func sameNumber(a, b string) bool {
	if !strings.ContainsAny(a, ".eE") && !strings.ContainsAny(b, ".eE") {
		return a == "-0" && b == "0" || a == "0" && b == "-0"
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}
