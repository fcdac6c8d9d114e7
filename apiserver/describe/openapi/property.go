package openapi

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

// property returns the schema of a field.
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

// nullable reports whether responses contain null for the field when it is unset.
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

// addDefault adds the default value if the server always sets it. It omits defaults that are
// objects, because they follow from the defaults of their members and have no protobuf form.
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

// constrain adds the constraints that the server enforces.
func (s *schemas) constrain(p object, f *schema.Field) {
	spec := f.Spec
	switch f.Type.Form {
	case schema.FormList:
		if spec.Required { // an empty list is treated as unset
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
		if spec.Emit == "always" && !spec.Required && !spec.Pointer { // an unset field is written as ""
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

// inside returns the schema of items or values, or nil if it is a reference to a shared component.
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

// addFormat adds the constraints of a named format that OpenAPI can express.
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

// addPatch adds how strategic merge patches treat the field (F14), as package strategic implements
// it: merge applies to lists only.
func addPatch(to object, f *schema.Field) {
	list := f.Type.Form == schema.FormList
	if f.Spec.Atomic {
		to["x-kubernetes-map-type"] = "atomic"
	}
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
		addMapKeys(to, f.Type.Elem().Message(), f.Spec.Keys())
	}
}

// addMapKeys adds the keys that identify the items of a list, if the first is required.
func addMapKeys(to object, item *schema.Message, keys []string) {
	if item == nil || item.Field(keys[0]) == nil || !item.Field(keys[0]).Spec.Required {
		return
	}
	to["x-kubernetes-list-type"] = "map"
	to["x-kubernetes-list-map-keys"] = keys
}

// patchable reports whether an OpenAPI schema can describe how a strategic merge patch treats a
// message. A schema cannot describe a list whose merge key is a field of its items' metadata;
// clients would compute wrong patches from it. seen holds the messages that were visited, since
// messages can contain themselves.
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
