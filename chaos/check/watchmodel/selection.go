package watchmodel

import (
	"slices"
	"strings"
)

// Operator compares a label or a field with values.
type Operator int

// The operators. Fields know only Equals and NotEquals.
const (
	Equals Operator = iota
	NotEquals
	In
	NotIn
	Exists
	NotExists
)

// Term is one condition of a selector.
type Term struct {
	Key      string
	Operator Operator
	Values   []string
}

// String returns the term in the grammar of selectors.
func (t Term) String() string {
	list := strings.Join(t.Values, ",")
	switch t.Operator {
	case Equals:
		return t.Key + "=" + list
	case NotEquals:
		return t.Key + "!=" + list
	case In:
		return t.Key + " in (" + list + ")"
	case NotIn:
		return t.Key + " notin (" + list + ")"
	case Exists:
		return t.Key
	default:
		return "!" + t.Key
	}
}

// matches evaluates the term. An absent label satisfies the negative operators.
func (t Term) matches(value string, found bool) bool {
	switch t.Operator {
	case Equals, In:
		return found && slices.Contains(t.Values, value)
	case NotEquals, NotIn:
		return !found || !slices.Contains(t.Values, value)
	case Exists:
		return found
	default:
		return !found
	}
}

// Selection determines which objects a watch selects.
type Selection struct {
	Namespace string // of the path; empty for all
	Name      string // of the path
	Labels    []Term
	Fields    []Term
}

// Matches reports whether the object belongs to the selection.
func (s *Selection) Matches(o *Object) bool {
	if s.Namespace != "" && s.Namespace != o.Namespace || s.Name != "" && s.Name != o.Name {
		return false
	}
	for _, t := range s.Labels {
		if !t.matches(o.Labels.get(t.Key)) {
			return false
		}
	}
	for _, t := range s.Fields {
		if !t.matches(o.field(t.Key), true) { // an absent field is an empty one
			return false
		}
	}
	return true
}

func (o *Object) field(name string) string {
	switch name {
	case "metadata.name":
		return o.Name
	case "metadata.namespace":
		return o.Namespace
	case "spec.nodeName":
		return o.Node
	case "status.phase":
		return o.Phase
	default:
		return ""
	}
}

// SelectorText joins terms to the value of a selector parameter.
func SelectorText(terms []Term) string {
	texts := make([]string, len(terms))
	for i, t := range terms {
		texts[i] = t.String()
	}
	return strings.Join(texts, ",")
}
