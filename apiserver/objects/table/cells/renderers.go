package cells

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"quorate/apiserver/objects/schema"
)

// Source is the input of a Renderer.
type Source struct {
	Object *schema.Value
	Path   Path // of the column
	Now    time.Time
}

// Value returns the value at the path, or nil.
func (s *Source) Value() *schema.Value { return s.Path.one(s.Object) }

// Renderer computes the cells of a column. Exactly one of Text and Number is set.
type Renderer struct {
	Text   func(s *Source) string // returns "" for an empty cell
	Number func(s *Source) int64
	// Accepts reports whether the renderer accepts values of type t at path p. If Accepts is nil,
	// the renderer uses the whole object and the column has no path.
	Accepts func(p Path, t *schema.Type) bool
}

// Renderers returns all renderers by the names that kind files use.
func Renderers() map[string]Renderer {
	all := values()
	for _, family := range []map[string]func(s *Source) string{
		podTexts(), nodeTexts(), workloadTexts(), bindingTexts(), eventTexts(), storageTexts(), networkTexts(), autoscalingTexts(),
		jobTexts(), claimTexts(),
	} {
		for name, text := range family {
			all[name] = Renderer{Text: text}
		}
	}
	all["podRestarts"] = Renderer{Number: podRestarts}
	all["configMapEntries"] = Renderer{Number: configMapEntries}
	return all
}

// Age is the renderer of the time since a time. Its cells and those of JobDuration and EventSeen
// depend on the time at which they are made.
const Age = "age"

// values returns the renderers of the value at a column's path.
func values() map[string]Renderer {
	return map[string]Renderer{
		Age:           {Text: age, Accepts: one(schema.FormTime, schema.FormMicroTime)},
		"list":        {Text: list, Accepts: isTexts},
		"count":       {Number: count, Accepts: one(schema.FormList, schema.FormMap)},
		"truth":       {Text: truth, Accepts: one(schema.FormBool)},
		"pairs":       {Text: pairs, Accepts: isPairs},
		"selector":    {Text: selectorText, Accepts: isSelector},
		"accessModes": {Text: accessModes, Accepts: isTexts},
	}
}

func one(forms ...schema.Form) func(p Path, t *schema.Type) bool {
	return func(p Path, t *schema.Type) bool { return !p.Many() && slices.Contains(forms, t.Form) }
}

func isTexts(p Path, t *schema.Type) bool {
	return p.Many() && t.Form == schema.FormString || !p.Many() && t.Form == schema.FormList && t.Elem().Form == schema.FormString
}

func isPairs(p Path, t *schema.Type) bool {
	return !p.Many() && t.Form == schema.FormMap && t.Elem().Form == schema.FormString
}

func isSelector(p Path, t *schema.Type) bool {
	return !p.Many() && t.Message() != nil && t.Message().Field("matchLabels") != nil && t.Message().Field("matchExpressions") != nil
}

// age returns the time since the value's time, as `kubectl get` prints it.
func age(s *Source) string {
	v := s.Value()
	if v == nil {
		return ""
	}
	return duration.HumanDuration(s.Now.Sub(v.Time()))
}

func count(s *Source) int64 { return int64(s.Value().Len()) }

func configMapEntries(s *Source) int64 {
	return int64(s.Object.Field("data").Len() + s.Object.Field("binaryData").Len())
}

func truth(s *Source) string {
	switch v := s.Value(); {
	case v == nil:
		return ""
	case v.Bool():
		return "True"
	}
	return "False"
}

func list(s *Source) string { return strings.Join(texts(s), ",") }

// texts returns the strings at the path, or the items of the list of strings at the path.
func texts(s *Source) []string {
	var all []string
	s.Path.each(s.Object, func(v *schema.Value) {
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

func pairs(s *Source) string { return strings.Join(equalities(s.Value()), ",") }

// equalities returns the entries of a map of strings as k=v.
func equalities(m *schema.Value) []string {
	var all []string
	for key, v := range m.Entries() {
		all = append(all, key+"="+v.Str())
	}
	return all
}

// selectorText returns a label selector's text, or "" if it has no requirements.
func selectorText(s *Source) string { return schema.SelectorText(s.Value()) }

// Text returns a scalar as text, or "" if it is unset.
func Text(v *schema.Value) string {
	if v == nil {
		return ""
	}
	switch v.Type().Form {
	case schema.FormInt32, schema.FormInt64, schema.FormUint32:
		return strconv.FormatInt(v.Int(), 10)
	case schema.FormBool:
		return strconv.FormatBool(v.Bool())
	case schema.FormTime, schema.FormMicroTime:
		return v.Time().Format(time.RFC3339)
	case schema.FormIntOrString:
		if !v.IsText() {
			return strconv.FormatInt(v.Int(), 10)
		}
	}
	return v.Str()
}
