package openapi

import (
	"encoding/json"
	"fmt"

	"quorate/apiserver/objects/schema"
)

// defineCustom adds the component of a custom kind: its schema, with the members that all objects
// have.
func (s *schemas) defineCustom(name string, k *schema.Kind) {
	component := object{}
	text, err := k.CustomSchema()
	if err == nil {
		err = json.Unmarshal(text, &component)
	}
	if err != nil {
		if s.err == nil {
			s.err = fmt.Errorf("schema of %s: %w", k.QualifiedKind(), err)
		}
		return
	}
	if s.dialect == version2 {
		if component["x-kubernetes-preserve-unknown-fields"] == true {
			// kubectl refuses members that are not listed, unless none is.
			s.all[name] = object{"type": "object"}
			return
		}
		component = asVersion2(component)
	}
	properties, _ := component["properties"].(object)
	if properties == nil {
		properties = object{}
	}
	for _, f := range k.Message.Fields() {
		property, err := s.property(f)
		if err != nil && s.err == nil {
			s.err = fmt.Errorf("field %s of %s: %w", f.Name, k.QualifiedKind(), err)
		}
		properties[f.Name] = property
	}
	for name, about := range map[string]string{
		"apiVersion": "Group and version of the object.", "kind": "Kind of the object.",
	} {
		if p, ok := properties[name].(object); ok {
			p["description"] = about
		}
	}
	component["type"], component["properties"] = "object", properties
	s.all[name] = component
}

// asVersion2 returns a schema as Kubernetes publishes it in version 2 of OpenAPI, so that clients
// that validate by it accept what the server accepts. It drops alternatives, CEL rules and
// nullable; the type, items and properties of a value that may be null; the type of an integer or
// string; and the items, the properties and any type but object where unknown fields are preserved.
func asVersion2(in object) object {
	out := object{}
	for name, value := range in {
		switch name {
		case "nullable", "oneOf", "anyOf", "allOf", "not", "x-kubernetes-validations":
			continue
		case "properties":
			out[name] = mapValues(value)
			continue
		case "items", "additionalProperties":
			if sub, ok := value.(object); ok {
				value = asVersion2(sub)
			}
		}
		out[name] = value
	}
	if in["nullable"] == true {
		for _, name := range []string{"type", "items", "properties"} {
			delete(out, name)
		}
	}
	if in["x-kubernetes-int-or-string"] == true {
		delete(out, "type")
	}
	if in["x-kubernetes-preserve-unknown-fields"] == true {
		for _, name := range []string{"items", "properties"} {
			delete(out, name)
		}
		if _, typed := out["type"]; typed && out["type"] != "object" {
			delete(out, "type")
		}
	}
	return out
}

func mapValues(properties any) object {
	out := object{}
	all, _ := properties.(object)
	for name, p := range all {
		if sub, ok := p.(object); ok {
			out[name] = asVersion2(sub)
		}
	}
	return out
}
