package schema

import (
	"slices"
	"strings"
)

// SelectorText returns a label selector, or a map of labels that all must match, in the syntax of
// the parameter labelSelector, with the requirements sorted by key. It returns "" for a selector
// without requirements.
func SelectorText(selector *Value) string {
	labels := selector
	if selector.Type() != nil && selector.Type().Form == FormMessage {
		labels = selector.Field("matchLabels")
	}
	var all []string
	for key, v := range labels.Entries() {
		all = append(all, key+"="+v.Str())
	}
	for _, e := range selector.Field("matchExpressions").Items() {
		all = append(all, requirementText(e))
	}
	slices.SortStableFunc(all, func(a, b string) int { return strings.Compare(requirementKey(a), requirementKey(b)) })
	return strings.Join(all, ",")
}

func requirementText(e *Value) string {
	key := e.Field("key").Str()
	switch e.Field("operator").Str() {
	case "Exists":
		return key
	case "DoesNotExist":
		return "!" + key
	}
	var of []string
	for _, v := range e.Field("values").Items() {
		of = append(of, v.Str())
	}
	slices.Sort(of)
	return key + " " + strings.ToLower(e.Field("operator").Str()) + " (" + strings.Join(of, ",") + ")"
}

// requirementKey returns the label key of a requirement.
func requirementKey(text string) string {
	text = strings.TrimPrefix(text, "!")
	if end := strings.IndexAny(text, "= "); end >= 0 {
		return text[:end]
	}
	return text
}
