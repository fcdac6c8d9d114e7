package selector

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/selection"

	"quorate/apiserver/limit"
	"quorate/raftstore/state"
)

// The fields that every kind can be selected by. Their values come from an object's key, not from
// its attributes.
const (
	nameField      = "metadata.name"
	namespaceField = "metadata.namespace"
)

// The bounds of the selectors of a request, label and field selector together. A watch evaluates
// its selector for every change for as long as it lasts.
const (
	maxSelectorBytes = 64 << 10
	// maxTerms bounds the terms. Each value of a set counts as a term.
	maxTerms = 500
)

// Fields lists the fields that a kind can be selected by.
type Fields struct {
	// Supported are the fields whose values are stored with objects, including metadata.name and
	// metadata.namespace.
	Supported map[string]bool
	// Accepted are fields that a selector may name and whose value is always empty.
	Accepted map[string]bool
	// Aliases are other names of supported fields.
	Aliases map[string]string
}

// Selector is a conjunction of label and field terms. A nil Selector matches every initialized
// object.
type Selector struct {
	labels    []labelTerm
	fields    []fieldTerm
	name      []keyTerm
	namespace []keyTerm
	hidden    bool // also match objects that are not initialized
}

// keyTerm and fieldTerm compare one field with one value.
type keyTerm struct {
	value  string
	negate bool
}

type fieldTerm struct {
	name  string
	trace string // see labelTerm
	keyTerm
}

// newFieldTerm compiles a field term. A term with an empty value also matches objects without the
// field (C19), so it has no trace.
func newFieldTerm(name string, compared keyTerm) fieldTerm {
	t := fieldTerm{name: name, keyTerm: compared}
	if !t.negate && t.value != "" {
		t.trace = trace(name, t.value)
	}
	return t
}

// matches compares one field.
func (t *fieldTerm) matches(fields state.Attributes) bool {
	if !strings.Contains(string(fields), t.trace) {
		return false
	}
	value, _ := fields.Get(t.name)
	return t.keyTerm.matches(value)
}

func (t keyTerm) matches(value string) bool { return (value == t.value) != t.negate }

// Parse compiles the selectors of a request. It returns nil if both are empty. The texts of its
// errors are meant for the client.
func Parse(labelText, fieldText string, allowed *Fields) (*Selector, error) {
	if labelText == "" && fieldText == "" {
		return nil, nil
	}
	if err := checkSize(labelText, fieldText); err != nil {
		return nil, err
	}
	s := &Selector{}
	if err := s.parseLabels(labelText); err != nil {
		return nil, err
	}
	if err := s.parseFields(fieldText, allowed); err != nil {
		return nil, err
	}
	if s.isEmpty() {
		return nil, nil
	}
	s.normalize()
	return s, nil
}

// checkSize returns an error if the selectors exceed a bound. It counts the terms before they are
// parsed.
func checkSize(labelText, fieldText string) error {
	if len(labelText)+len(fieldText) > maxSelectorBytes {
		return limit.Reached(limit.SelectorSize, fmt.Errorf("the selectors are longer than %d bytes", maxSelectorBytes))
	}
	if n := countLabelTerms(labelText) + countFieldTerms(fieldText); n > maxTerms {
		return limit.Reached(limit.SelectorTerms,
			fmt.Errorf("the selectors have %d terms, each value of a set counted; at most %d are allowed", n, maxTerms))
	}
	return nil
}

func countLabelTerms(text string) int {
	if text == "" {
		return 0
	}
	return strings.Count(text, ",") + 1
}

// countFieldTerms counts the terms of a field selector, in whose values a backslash escapes a
// comma.
func countFieldTerms(text string) int {
	if text == "" {
		return 0
	}
	n := 1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case ',':
			n++
		}
	}
	return n
}

func (s *Selector) isEmpty() bool {
	return len(s.labels)+len(s.fields)+len(s.name)+len(s.namespace) == 0
}

func (s *Selector) parseLabels(text string) error {
	parsed, err := parseLabels(text)
	if err != nil {
		return err
	}
	requirements, _ := parsed.Requirements()
	for i := range requirements {
		term, err := newLabelTerm(&requirements[i])
		if err != nil {
			return err
		}
		s.labels = append(s.labels, term)
	}
	return nil
}

func (s *Selector) parseFields(text string, allowed *Fields) error {
	parsed, err := fields.ParseSelector(text)
	if err != nil {
		return err
	}
	for _, r := range parsed.Requirements() {
		name := r.Field
		if alias, ok := allowed.Aliases[name]; ok {
			name = alias
		}
		if !allowed.Supported[name] && !allowed.Accepted[name] {
			return fmt.Errorf("field label not supported: %s", r.Field)
		}
		term := keyTerm{value: r.Value, negate: r.Operator == selection.NotEquals}
		switch name {
		case nameField:
			s.name = append(s.name, term)
		case namespaceField:
			s.namespace = append(s.namespace, term)
		default:
			s.fields = append(s.fields, newFieldTerm(name, term))
		}
	}
	return nil
}

// Named returns a copy of s that also requires metadata.name to be name. ok is false if s cannot
// match that name (semantics D32).
func Named(s *Selector, name string) (named *Selector, ok bool) {
	if s == nil {
		return &Selector{name: []keyTerm{{value: name}}}, true
	}
	for _, t := range s.name {
		if !t.matches(name) {
			return nil, false
		}
	}
	out := *s
	out.name = []keyTerm{{value: name}}
	return &out, true
}

// Name returns the name that matching objects must have. ok is false if the selector does not
// determine one.
func (s *Selector) Name() (name string, ok bool) {
	if s == nil {
		return "", false
	}
	return fixed(s.name)
}

// Namespace returns the namespace that matching objects must be in. ok is false if the selector
// does not determine one.
func (s *Selector) Namespace() (namespace string, ok bool) {
	if s == nil {
		return "", false
	}
	return fixed(s.namespace)
}

// Field returns a selectable field and the value, not empty, that matching objects must have in it,
// beside their name and namespace. ok is false if the selector requires none.
func (s *Selector) Field() (name, value string, ok bool) {
	if s == nil {
		return "", "", false
	}
	for i := range s.fields {
		if t := &s.fields[i]; t.trace != "" {
			return t.name, t.value, true
		}
	}
	return "", "", false
}

// Label returns a label and the value that matching objects must have. ok is false if the selector
// requires none.
func (s *Selector) Label() (name, value string, ok bool) {
	if s == nil {
		return "", "", false
	}
	for i := range s.labels {
		if t := &s.labels[i]; t.trace != "" {
			return t.key, t.values[0], true
		}
	}
	return "", "", false
}

func fixed(terms []keyTerm) (string, bool) {
	for _, t := range terms {
		if !t.negate {
			return t.value, true
		}
	}
	return "", false
}

// Matches reports whether the selector matches the object. It does not allocate.
func (s *Selector) Matches(o *state.Object) bool {
	if s == nil {
		return !isHidden(o)
	}
	if isHidden(o) && !s.hidden {
		return false
	}
	for i := range s.labels {
		if !s.labels[i].matches(o.Labels) {
			return false
		}
	}
	for i := range s.fields {
		if !s.fields[i].matches(o.Fields) {
			return false
		}
	}
	return s.MatchesKey(o.Key)
}

// MatchesKey reports whether an object with this key could match. A nil Selector matches any key.
func (s *Selector) MatchesKey(k state.Key) bool {
	if s == nil || len(s.name) == 0 && len(s.namespace) == 0 {
		return true
	}
	_, namespace, name := k.Split()
	return all(s.name, name) && all(s.namespace, namespace)
}

func all(terms []keyTerm, value string) bool {
	for _, t := range terms {
		if !t.matches(value) {
			return false
		}
	}
	return true
}

// NameOf returns the name that a field selector determines, or "" if it does not determine one or
// is invalid (semantics J15).
func NameOf(fieldText string) string {
	if fieldText == "" || checkSize("", fieldText) != nil {
		return ""
	}
	parsed, err := fields.ParseSelector(fieldText)
	if err != nil {
		return ""
	}
	name, _ := parsed.RequiresExactMatch(nameField)
	return name
}
