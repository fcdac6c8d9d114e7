package schema

import (
	"slices"
	"strconv"
)

// The members of an open message that are not declared fields are JSON texts in canonical form.

// Member returns the JSON text of a member of an open message that is not a declared field. It
// returns "" if there is none.
func (v *Value) Member(name string) string {
	if v == nil || v.box == nil || v.typ.message == nil {
		return ""
	}
	i, ok := slices.BinarySearch(v.box.keys, name)
	if !ok {
		return ""
	}
	return v.box.kids[len(v.typ.message.fields)+i].str
}

// SetMember sets a member of an open message that is not a declared field to a JSON text in
// canonical form; "" removes it.
func (v *Value) SetMember(name, text string) {
	i, ok := slices.BinarySearch(v.box.keys, name)
	at := len(v.typ.message.fields) + i
	switch {
	case !ok && text == "":
	case text == "":
		v.box.keys = slices.Delete(slices.Clone(v.box.keys), i, i+1)
		v.box.kids = slices.Delete(slices.Clone(v.box.kids), at, at+1)
	case ok:
		v.box.kids = slices.Clone(v.box.kids)
		v.box.kids[at] = &Value{typ: v.typ.message.open, str: text}
	default:
		v.box.keys = slices.Insert(slices.Clone(v.box.keys), i, name)
		v.box.kids = slices.Insert(slices.Clone(v.box.kids), at, &Value{typ: v.typ.message.open, str: text})
	}
}

// sameMembers reports whether two open messages have the same members besides their declared
// fields.
func sameMembers(a, b *Value) bool {
	if !slices.Equal(a.box.keys, b.box.keys) {
		return false
	}
	n := len(a.typ.message.fields)
	return slices.EqualFunc(a.box.kids[n:], b.box.kids[n:], func(a, b *Value) bool { return a.str == b.str })
}

// MemberAt returns the JSON text of the value at a path of names below the open members of a
// message. It returns "" if there is none.
func (v *Value) MemberAt(path []string) string {
	text := v.Member(path[0])
	for _, name := range path[1:] {
		if text == "" {
			return ""
		}
		from, to := find(text, name)
		text = text[from:to]
	}
	return text
}

// SetMemberAt sets the value at a path of names below the open members of a message to a JSON text
// in canonical form. It replaces values on the path that are not objects.
func (v *Value) SetMemberAt(path []string, text string) {
	v.SetMember(path[0], withMember(v.Member(path[0]), path[1:], text))
}

// withMember returns the canonical JSON text of an object with the value at a path replaced.
func withMember(object string, path []string, text string) string {
	if len(path) == 0 {
		return text
	}
	d := newDecoder(object)
	if d.space() != '{' {
		return `{` + quoted(path[0]) + `:` + withMember("", path[1:], text) + `}`
	}
	type entry struct{ name, text string }
	var entries []entry
	eachMember(object, func(name string, from, to int) bool {
		entries = append(entries, entry{name, object[from:to]})
		return true
	})
	at, found := slices.BinarySearchFunc(entries, path[0], func(e entry, name string) int {
		switch {
		case e.name < name:
			return -1
		case e.name > name:
			return 1
		}
		return 0
	})
	if !found {
		entries = slices.Insert(entries, at, entry{name: path[0]})
	}
	entries[at].text = withMember(entries[at].text, path[1:], text)
	out := []byte{'{'}
	for _, e := range entries {
		out = append(append(append(AppendString(out, e.name), ':'), e.text...), ',')
	}
	return string(closed(out, '}'))
}

func quoted(s string) string { return string(AppendString(nil, s)) }

// find returns the position of the value of a member in the JSON text of an object, or twice the
// same position if the text is not an object that has the member.
func find(object, name string) (from, to int) {
	eachMember(object, func(have string, f, t int) bool {
		if have == name {
			from, to = f, t
		}
		return have != name
	})
	return from, to
}

// eachMember calls fn with the name of each member in the JSON text of an object and with the
// position of its value, until fn returns false. The text must be valid. If it is not an object,
// eachMember does nothing.
func eachMember(object string, fn func(name string, from, to int) bool) {
	d := newDecoder(object)
	if d.space() != '{' {
		return
	}
	for more, err := d.open('}'); more && err == nil; more, err = d.next('}', "after object key:value pair") {
		name, err := d.key()
		if err != nil {
			return
		}
		d.space()
		from := d.pos
		if d.skip(1) != nil || !fn(name, from, d.pos) {
			return
		}
	}
}

// scalarText returns a JSON scalar as text: strings unquoted, others as they are. It returns "" for
// null, objects and lists.
func scalarText(text string) string {
	switch {
	case text == "" || text == "null" || text[0] == '{' || text[0] == '[':
		return ""
	case text[0] == '"':
		s, err := newDecoder(text).str()
		if err != nil {
			return ""
		}
		return s
	}
	return text
}

// intOf returns a JSON number as an integer; 0 if the text is not an integer.
func intOf(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
