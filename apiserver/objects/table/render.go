package table

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/duration"

	"quorate/apiserver/objects/schema"
)

// renderer computes the cells of a column. It sets exactly one of text and number.
type renderer struct {
	text   func(s *source) string // returns "" for an empty cell
	number func(s *source) int64
	// takes reports whether the renderer accepts values of type t at path p. If takes is nil, the
	// renderer uses the whole object and the column has no path.
	takes func(p path, t *schema.Type) bool
}

// makes reports whether the renderer can be used for a column type.
func (r *renderer) makes(columnType string) bool {
	return columnType == typeString || columnType == typeInteger && r.number != nil
}

// renderers returns all renderers under the names that kind files use.
func renderers() map[string]renderer {
	all := values()
	for _, family := range []map[string]func(s *source) string{
		podTexts(), nodeTexts(), workloadTexts(), bindingTexts(), eventTexts(), storageTexts(), networkTexts(), autoscalingTexts(),
	} {
		for name, text := range family {
			all[name] = renderer{text: text}
		}
	}
	all["podRestarts"] = renderer{number: podRestarts}
	all["configMapEntries"] = renderer{number: configMapEntries}
	return all
}

// renderAge is the only renderer whose cells depend on the time.
const renderAge = "age"

// values returns the renderers of the value at a column's path.
func values() map[string]renderer {
	return map[string]renderer{
		renderAge:     {text: age, takes: one(schema.FormTime, schema.FormMicroTime)},
		"list":        {text: list, takes: isTexts},
		"count":       {number: count, takes: one(schema.FormList, schema.FormMap)},
		"truth":       {text: truth, takes: one(schema.FormBool)},
		"pairs":       {text: pairs, takes: isPairs},
		"selector":    {text: selectorText, takes: isSelector},
		"accessModes": {text: accessModes, takes: isTexts},
	}
}

func one(forms ...schema.Form) func(p path, t *schema.Type) bool {
	return func(p path, t *schema.Type) bool { return !p.many() && slices.Contains(forms, t.Form) }
}

func isTexts(p path, t *schema.Type) bool {
	return p.many() && t.Form == schema.FormString || !p.many() && t.Form == schema.FormList && t.Elem().Form == schema.FormString
}

func isPairs(p path, t *schema.Type) bool {
	return !p.many() && t.Form == schema.FormMap && t.Elem().Form == schema.FormString
}

func isSelector(p path, t *schema.Type) bool {
	return !p.many() && t.Message() != nil && t.Message().Field("matchLabels") != nil && t.Message().Field("matchExpressions") != nil
}

// age returns the time since the value's time, as `kubectl get` prints it.
func age(s *source) string {
	v := s.value()
	if v == nil {
		return ""
	}
	return duration.HumanDuration(s.now.Sub(v.Time()))
}

func count(s *source) int64 { return int64(s.value().Len()) }

func configMapEntries(s *source) int64 {
	return int64(s.root.Field("data").Len() + s.root.Field("binaryData").Len())
}

func truth(s *source) string {
	switch v := s.value(); {
	case v == nil:
		return ""
	case v.Bool():
		return "True"
	}
	return "False"
}

func list(s *source) string { return strings.Join(texts(s), ",") }

// texts returns the strings at the path, or the items of the list of strings at the path.
func texts(s *source) []string {
	var all []string
	s.path.each(s.root, func(v *schema.Value) {
		if v.Type().Form == schema.FormString {
			all = append(all, v.Str())
			return
		}
		for _, item := range v.Items() {
			all = append(all, item.Str())
		}
	})
	return all
}

func pairs(s *source) string { return strings.Join(equalities(s.value()), ",") }

// equalities returns the entries of a map of strings as k=v.
func equalities(m *schema.Value) []string {
	var all []string
	for key, v := range m.Entries() {
		all = append(all, key+"="+v.Str())
	}
	return all
}

// selectorText returns a label selector's text, or "" if it has no requirements.
func selectorText(s *source) string { return schema.SelectorText(s.value()) }
