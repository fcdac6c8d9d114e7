package table

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/duration"

	"quorate/apiserver/objects/schema"
)

// renderer makes cells: texts or numbers, one of the two.
type renderer struct {
	text   func(s *source) string // "" for nothing
	number func(s *source) int64
	// takes reports whether it can make a cell of what a path leads to; nil: it takes none, but the
	// object.
	takes func(p path, t *schema.Type) bool
}

// makes reports whether the renderer's cells fit into a column of that type.
func (r *renderer) makes(columnType string) bool {
	return columnType == typeString || columnType == typeInteger && r.number != nil
}

// renderers returns all of them, by the names under which kind files refer to them.
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

// renderAge is the renderer that looks at the time.
const renderAge = "age"

// values are the renderers of what stands at a path.
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

// age is how long ago a time is, as people say it.
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

// texts are the texts that the path leads to, or those of the list that it leads to.
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

// equalities are the entries of a map of texts as k=v.
func equalities(m *schema.Value) []string {
	var all []string
	for key, v := range m.Entries() {
		all = append(all, key+"="+v.Str())
	}
	return all
}

// selectorText writes a label selector; "" for one without requirements.
func selectorText(s *source) string { return schema.SelectorText(s.value()) }
