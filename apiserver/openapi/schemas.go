package openapi

import (
	"strconv"

	"quorate/apiserver/schema"
)

// schemas collects the component schemas of one OpenAPI document: one for each message that its kinds reach.
type schemas struct {
	all   object
	names map[*schema.Message]string
	kinds map[*schema.Kind]kindNames
}

// kindNames are the names of a kind's components.
type kindNames struct{ object, list string }

// newSchemas adds kinds with their messages.
func newSchemas(kinds []*schema.Kind) *schemas {
	s := &schemas{all: object{}, names: map[*schema.Message]string{}, kinds: map[*schema.Kind]kindNames{}}
	for _, k := range kinds {
		s.addKind(k)
	}
	return s
}

// name returns a message's name in the document. Kinds of different contexts may have a message of one name with other fields.
func (s *schemas) name(m *schema.Message) (name string, known bool) {
	if name, known = s.names[m]; known {
		return name, true
	}
	name = s.free(m.Name)
	s.names[m] = name
	return name, false
}

// free returns the name, or with a number when it is taken.
func (s *schemas) free(name string) string {
	free := name
	for n := 2; s.all[free] != nil; n++ {
		free = name + "." + strconv.Itoa(n)
	}
	return free
}

// addKind adds a kind's message, its list, and names both for clients that look a kind up.
func (s *schemas) addKind(k *schema.Kind) {
	names := kindNames{object: s.objectName(k)}
	if component, ok := s.all[names.object].(object); ok {
		component["x-kubernetes-group-version-kind"] = []object{groupVersionKind(k)}
	}
	names.list = s.free(k.ListKind)
	s.all[names.list] = object{
		"type": "object",
		"properties": object{
			"apiVersion": object{"type": "string"},
			"kind":       object{"type": "string"},
			"metadata": object{"type": "object", "properties": object{
				"selfLink": object{"type": "string"}, "resourceVersion": object{"type": "string"},
				"continue": object{"type": "string"},
			}},
			"items": object{"type": "array", "items": referenceTo(names.object)},
		},
		"required": []string{"items"},
		"x-kubernetes-group-version-kind": []object{
			{"group": k.Group, "version": k.Version, "kind": k.ListKind},
		},
	}
	s.kinds[k] = names
}

// objectName adds the schema of a kind's objects. Kinds without a schema share a message but not their names.
func (s *schemas) objectName(k *schema.Kind) string {
	if !k.Schemaless() {
		s.reference(k.Message)
		return s.names[k.Message]
	}
	name := s.free(k.Kind)
	component := object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	s.all[name] = component
	component["properties"], _ = s.properties(k.Message)
	return name
}

func (s *schemas) kindReference(k *schema.Kind) object { return referenceTo(s.kinds[k].object) }

func (s *schemas) listReference(k *schema.Kind) object { return referenceTo(s.kinds[k].list) }

func referenceTo(name string) object { return object{"$ref": "#/components/schemas/" + name} }

// reference returns a reference to a message's schema, which it adds the first time. Messages may contain themselves.
func (s *schemas) reference(m *schema.Message) object {
	name, known := s.name(m)
	if known {
		return referenceTo(name)
	}
	component := object{"type": "object"}
	s.all[name] = component
	properties, required := s.properties(m)
	component["properties"] = properties
	if len(required) > 0 {
		component["required"] = required
	}
	return referenceTo(name)
}

// properties are the schemas of a message's fields, and the names of those that must be there.
func (s *schemas) properties(m *schema.Message) (properties object, required []string) {
	properties = object{}
	for _, f := range m.Fields() {
		property := s.typed(f.Type)
		if text := description(f.Spec); text != "" {
			property = described(property, text)
		}
		properties[f.Name] = property
		if f.Spec.Required {
			required = append(required, f.Name)
		}
	}
	return properties, required
}

// described adds a description; a reference can't have one beside it, so it is wrapped.
func described(property object, text string) object {
	if _, isReference := property["$ref"]; isReference {
		return object{"allOf": []object{property}, "description": text}
	}
	property["description"] = text
	return property
}

// description says what the tables say of a field.
func description(f *schema.FieldSpec) string {
	for _, text := range []string{f.Note, f.Rule, f.DefaultRule} {
		if text != "" {
			return text
		}
	}
	return ""
}

// typed is the schema of a type.
func (s *schemas) typed(t *schema.Type) object {
	switch t.Form {
	case schema.FormMessage:
		return s.reference(t.Message())
	case schema.FormList:
		return object{"type": "array", "items": s.typed(t.Elem())}
	case schema.FormMap:
		return object{"type": "object", "additionalProperties": s.typed(t.Elem())}
	case schema.FormBool:
		return object{"type": "boolean"}
	case schema.FormInt32, schema.FormUint32:
		return object{"type": "integer", "format": "int32"}
	case schema.FormInt64:
		return object{"type": "integer", "format": "int64"}
	case schema.FormDouble:
		return object{"type": "number", "format": "double"}
	case schema.FormBytes:
		return object{"type": "string", "format": "byte"}
	case schema.FormTime, schema.FormMicroTime:
		return object{"type": "string", "format": "date-time"}
	case schema.FormIntOrString:
		return object{"oneOf": []object{{"type": "integer"}, {"type": "string"}}, "format": "int-or-string"}
	case schema.FormQuantity:
		return object{"oneOf": []object{{"type": "string"}, {"type": "number"}}}
	case schema.FormRaw:
		return object{"type": "object"}
	}
	return object{"type": "string"}
}
