package openapi

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

// property is the schema of a field.
func (s *schemas) property(f *schema.Field) (object, error) {
	p := s.typed(f.Type)
	s.constrain(p, f)
	beside := object{}
	if f.Spec.Description != "" {
		beside["description"] = f.Spec.Description
	}
	if err := addDefault(beside, f.Spec); err != nil {
		return nil, err
	}
	if nullable(f) {
		s.dialect.addNullable(beside)
	}
	addPatch(beside, f)
	return s.dialect.beside(p, beside), nil
}

// nullable reports whether answers have null in the field when it is unset.
func nullable(f *schema.Field) bool {
	if f.Spec.Emit != "always" || f.Spec.Required {
		return false
	}
	switch f.Type.Form {
	case schema.FormTime, schema.FormMicroTime, schema.FormList, schema.FormMap, schema.FormRaw:
		return true
	}
	return f.Spec.Pointer
}

// addDefault adds what the server always sets an unset field to. A default with members follows
// from theirs, and protobuf has none.
func addDefault(to object, spec *schema.FieldSpec) error {
	if spec.Default.IsZero() || spec.DefaultWhen != "" || spec.DefaultIf != "" {
		return nil
	}
	var value any
	if err := spec.Default.Decode(&value); err != nil {
		return err
	}
	switch value.(type) {
	case map[string]any, []any:
		return nil
	}
	to["default"] = value
	return nil
}

// constrain adds the bounds that the server enforces.
func (s *schemas) constrain(p object, f *schema.Field) {
	spec := f.Spec
	switch f.Type.Form {
	case schema.FormList:
		if spec.Required { // an empty list counts as none
			p["minItems"] = max(spec.MinItems, 1)
		}
		if items := inside(p, "items"); items != nil {
			addRange(items, spec.ItemMin, spec.ItemMax)
			addEnum(items, spec.ItemEnum)
			s.addFormat(items, spec.ItemFormat)
		}
	case schema.FormMap:
		if values := inside(p, "additionalProperties"); values != nil {
			addRange(values, spec.ValueMin, nil)
			s.addFormat(values, spec.ValueFormat)
		}
	case schema.FormString, schema.FormBytes:
		if spec.Required {
			p["minLength"] = 1
		}
		if spec.Emit == "always" && !spec.Required && !spec.Pointer { // "" is written for an unset one
			if len(spec.Enum) > 0 {
				addEnum(p, append([]string{""}, spec.Enum...))
			}
			return
		}
		addEnum(p, spec.Enum)
		s.addFormat(p, spec.Format)
	case schema.FormInt32, schema.FormInt64, schema.FormUint32, schema.FormDouble:
		addRange(p, spec.Min, spec.Max)
	}
}

// inside returns the schema of items or values; nil for one that fields share.
func inside(p object, member string) object {
	items, _ := p[member].(object)
	if items["$ref"] != nil {
		return nil
	}
	return items
}

func addRange(p object, low, high *int64) {
	if low != nil {
		p["minimum"] = *low
	}
	if high != nil {
		p["maximum"] = *high
	}
}

func addEnum(p object, values []string) {
	if len(values) > 0 {
		p["enum"] = values
	}
}

// addFormat adds what a named format says of text, as far as a pattern says it.
func (s *schemas) addFormat(p object, name string) {
	f := s.formats[name]
	if f.Pattern != "" {
		p["pattern"] = f.Pattern
	}
	if f.MaxLength > 0 {
		p["maxLength"] = f.MaxLength
	}
	if name == "uuid" || name == "ipv4" {
		p["format"] = name
	}
}

// addPatch says how strategic merge patches work on the field (F14), as package strategic does it:
// merge is for lists alone.
func addPatch(to object, f *schema.Field) {
	list := f.Type.Form == schema.FormList
	var strategies []string
	merges := false
	for strategy := range strings.SplitSeq(f.Spec.PatchStrategy, ",") {
		if strategy == "" || strategy == "merge" && !list {
			continue
		}
		merges = merges || strategy == "merge"
		strategies = append(strategies, strategy)
	}
	if len(strategies) > 0 {
		to["x-kubernetes-patch-strategy"] = strings.Join(strategies, ",")
	}
	if !list {
		return
	}
	key := f.Spec.PatchMergeKey
	switch {
	case !merges:
		to["x-kubernetes-list-type"] = "atomic"
	case key == "":
		to["x-kubernetes-list-type"] = "set"
	default:
		to["x-kubernetes-patch-merge-key"] = key
		addMapKeys(to, f.Type.Elem().Message(), key)
	}
}

// addMapKeys says what tells the items of a list apart, where items have to have it. Ports of one
// number differ in the protocol.
func addMapKeys(to object, item *schema.Message, key string) {
	if item == nil || item.Field(key) == nil || !item.Field(key).Spec.Required {
		return
	}
	keys := []string{key}
	if item.Field("protocol") != nil {
		keys = append(keys, "protocol")
	}
	to["x-kubernetes-list-type"] = "map"
	to["x-kubernetes-list-map-keys"] = keys
}

// patchable reports whether the schema can say how strategic merge patches work on a message: that
// lists merge by a member of their items' metadata, it cannot, and clients would make patches that
// do not do what they mean.
func patchable(m *schema.Message, seen map[*schema.Message]bool) bool {
	if seen[m] {
		return true
	}
	seen[m] = true
	for _, f := range m.Fields() {
		below := innermost(f.Type).Message()
		if below == nil {
			continue
		}
		key := f.Spec.PatchMergeKey
		if f.Type.Form == schema.FormList && key != "" && below.Field(key) == nil || !patchable(below, seen) {
			return false
		}
	}
	return true
}
