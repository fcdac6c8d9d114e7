package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"quorate/raftstore/state"
)

// selector is a field that field selectors may select on.
type selector struct {
	label string   // name of the field in selectors
	path  []int    // slots from the root message to the field
	open  []string // instead of path: names from an open member of the root to the field
	form  Form     // a string, a boolean ("true" or "false") or a number in decimal
}

// compileSelectors compiles the field selectors that a kind supports, sorted by label.
func compileSelectors(k *Kind, spec FieldSelectorsSpec) ([]selector, error) {
	var out []selector
	for _, label := range spec.Supported {
		s, err := k.selector(label, orElse(spec.Paths[label], label))
		if err != nil {
			return nil, fmt.Errorf("fieldSelectors: %s: %w", label, err)
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b selector) int { return strings.Compare(a.label, b.label) })
	for alias, label := range spec.Aliases {
		if !slices.Contains(spec.Supported, label) {
			return nil, fmt.Errorf("fieldSelectors: alias %s of %s, which is not supported", alias, label)
		}
	}
	return out, nil
}

// selector compiles the selector of the scalar field with a dotted name such as "spec.nodeName".
func (k *Kind) selector(label, dotted string) (selector, error) {
	s := selector{label: label}
	t := k.Message.typ
	for name := range strings.SplitSeq(dotted, ".") {
		if t.message == nil || t.message.byName[name] == nil {
			return s, fmt.Errorf("there is no field %q", dotted)
		}
		f := t.message.byName[name]
		s.path, t = append(s.path, f.index), f.Type
	}
	s.form = t.Form
	if s.form != FormString && s.form != FormBool && s.form != FormInt32 {
		return s, fmt.Errorf("field %q is neither string nor bool nor int32", dotted)
	}
	return s, nil
}

// SelectableField resolves a label of a field selector: it follows an alias and returns the label
// under which the field's value is stored with objects. ok is false if the kind does not accept the
// label. If the kind accepts the label without storing its value, the value of all objects is "".
func (k *Kind) SelectableField(label string) (canonical string, ok bool) {
	if alias, found := k.Spec.FieldSelectors.Aliases[label]; found {
		label = alias
	}
	if slices.ContainsFunc(k.selectors, func(s selector) bool { return s.label == label }) {
		return label, true
	}
	return label, slices.Contains(k.Spec.FieldSelectors.Accepted, label)
}

// indexed returns the fields whose values are stored with objects: those that field selectors may
// name, in any version of a custom kind.
func (k *Kind) indexed() []selector {
	if k.custom != nil {
		return k.custom.indexed
	}
	return k.selectors
}

// labelAttributes encodes the labels for label selectors.
func (o *Object) labelAttributes() state.Attributes {
	labels := o.Labels()
	if labels.Len() == 0 {
		return ""
	}
	var b strings.Builder
	size := 0
	for i, key := range labels.box.keys {
		size += len(key) + len(labels.box.kids[i].str) + 2
	}
	b.Grow(size)
	for i, key := range labels.box.keys {
		addAttribute(&b, key, labels.box.kids[i].str)
	}
	return state.Attributes(b.String())
}

// fieldAttributes encodes the selectable fields for field selectors; an unset field is "".
func (o *Object) fieldAttributes() state.Attributes {
	size := 0
	indexed := o.Kind.indexed()
	for i := range indexed {
		s := &indexed[i]
		size += len(s.label) + len(o.indexValue(s)) + 2
	}
	var b strings.Builder
	b.Grow(size)
	for i := range indexed {
		s := &indexed[i]
		addAttribute(&b, s.label, o.indexValue(s))
	}
	return state.Attributes(b.String())
}

// addAttribute appends a name and its value, each followed by a zero byte. Zero bytes inside free
// text, such as an event's reason, are replaced by U+FFFD.
func addAttribute(b *strings.Builder, name, value string) {
	if strings.IndexByte(value, 0) >= 0 {
		value = strings.ReplaceAll(value, "\x00", "\ufffd")
	}
	b.WriteString(name)
	b.WriteByte(0)
	b.WriteString(value)
	b.WriteByte(0)
}

// selected returns the text of a selectable field, as the selector's value is compared with it.
func (o *Object) selected(s *selector) string {
	if s.open != nil {
		return scalarText(o.root.MemberAt(s.open))
	}
	v := o.root
	for _, slot := range s.path {
		if v = v.box.kids[slot]; v == nil {
			break
		}
	}
	switch s.form {
	case FormBool:
		return strconv.FormatBool(v.Bool())
	case FormInt32:
		return strconv.FormatInt(v.Int(), 10)
	}
	return v.Str()
}
