package schema

import (
	"fmt"
	"slices"
	"strings"
)

// renaming is the replacement of one API group by another in the fields that hold the group of
// their own kind (key `ownGroup`). The group of the kind that is stored is in its file, in stored
// bytes and in the indexes of them; a kind that serves the same objects in another group shows and
// accepts that group instead. The zero value replaces nothing.
type renaming struct{ from, to string }

func (r renaming) inverse() renaming { return renaming{r.to, r.from} }

func (r renaming) text(s string) string {
	if s == r.from {
		return r.to
	}
	return s
}

// field returns the spec of a field in the other group: with that group as the default, in the
// values and in the texts. It returns s itself unless the field holds the group.
func (r renaming) field(s *FieldSpec) *FieldSpec {
	if !s.OwnGroup || r.from == r.to {
		return s
	}
	out := *s
	out.Default.Value = r.text(s.Default.Value)
	out.Enum = slices.Clone(s.Enum)
	for i, value := range out.Enum {
		out.Enum[i] = r.text(value)
	}
	for _, text := range [...]*string{&out.Description, &out.DefaultRule, &out.Rule, &out.Note} {
		*text = strings.ReplaceAll(*text, r.from, r.to)
	}
	return &out
}

// value returns v as a value of type t, which is v's own type compiled for another group. Both
// share the values that do not depend on the group.
func (r renaming) value(v *Value, t *Type) *Value {
	if v == nil || v.typ == t {
		return v
	}
	out := &Value{typ: t, str: v.str, num: v.num, box: &box{keys: v.box.keys, kids: make([]*Value, len(v.box.kids))}}
	for i, kid := range v.box.kids {
		switch {
		case t.Form != FormMessage:
			out.box.kids[i] = r.value(kid, t.elem)
		case i >= len(t.message.fields): // an open member
			out.box.kids[i] = kid
		case kid != nil && t.message.fields[i].Spec.OwnGroup:
			out.box.kids[i] = &Value{typ: kid.typ, str: r.text(kid.str)}
		default:
			out.box.kids[i] = r.value(kid, t.message.fields[i].Type)
		}
	}
	return out
}

// relevant returns the part of a setting that a type depends on: few types depend on the group.
func (s *sources) relevant(text string, of setting) setting {
	if of.groups.from == of.groups.to || !s.namesGroup()[innermostName(text)] {
		of.groups = renaming{}
	}
	return of
}

// namesGroup returns the messages that contain a field with the key ownGroup, at any depth.
func (s *sources) namesGroup() map[string]bool {
	if s.grouped != nil {
		return s.grouped
	}
	s.grouped = map[string]bool{}
	names := func(f namedField) bool { return f.spec.OwnGroup || s.grouped[innermostName(f.spec.Type)] }
	for changed := true; changed; { // until nothing changes: messages may contain each other
		changed = false
		for name, m := range s.messages {
			if !s.grouped[name] && slices.ContainsFunc(m.spec.Fields, names) {
				s.grouped[name], changed = true, true
			}
		}
	}
	return s.grouped
}

// innermostName returns the name of the type that lists and maps in a type text end in.
func innermostName(text string) string {
	text = strings.TrimRight(text, ">")
	return text[strings.LastIndexAny(text, "<,")+1:]
}

// linkFields makes the converters of a view that has the fields of the stored kind under other
// names (key `storedAs`).
func (k *Kind) linkFields() error {
	stored := k.storage.Message
	to := make([]int, len(k.Message.fields)) // index of the stored field, by that of the field
	taken := map[string]string{}
	for i, f := range k.Message.fields {
		if i <= k.slots.metadata {
			continue // kind, apiVersion and metadata are converted for all views
		}
		name := orElse(f.Spec.StoredAs, f.Name)
		s := stored.byName[name]
		switch {
		case s == nil:
			return fmt.Errorf("field %s: %s has no field %s: name it in storedAs, or both hooks.toStorage and hooks.fromStorage", f.Name, stored.Name, name)
		case s.Type != f.Type:
			return fmt.Errorf("field %s: its type is not that of %s in %s", f.Name, name, stored.Name)
		case taken[name] != "":
			return fmt.Errorf("fields %s and %s are both stored as %s", taken[name], f.Name, name)
		}
		to[i], taken[name] = s.index, f.Name
	}
	if len(stored.fields) != len(to) {
		return fmt.Errorf("message %s lacks fields of %s, whose values would be lost", k.Message.Name, stored.Name)
	}
	k.hooks.toStorage = func(from, into *Object) {
		for i := k.slots.metadata + 1; i < len(to); i++ {
			into.root.box.kids[to[i]] = from.root.box.kids[i].Copy()
		}
	}
	k.hooks.fromStorage = func(from, into *Object) {
		for i := k.slots.metadata + 1; i < len(to); i++ {
			into.root.box.kids[i] = from.root.box.kids[to[i]].Copy()
		}
	}
	return nil
}
