package openapi

import "maps"

// dialect is a version of OpenAPI.
type dialect uint8

const (
	version2 dialect = iota // Swagger 2.0
	version3                // OpenAPI 3.0
)

// reference returns a reference to a component.
func (d dialect) reference(name string) object {
	if d == version2 {
		return object{"$ref": "#/definitions/" + name}
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// beside adds members to a schema and returns the result. In version 3 it wraps a reference in
// allOf, because members next to a reference are ignored. In version 2 it does not: clients read
// members next to a reference, and do not support wrapped references.
func (d dialect) beside(p, members object) object {
	if _, isReference := p["$ref"]; isReference && d == version3 && len(members) > 0 {
		p = object{"allOf": []object{p}}
	}
	maps.Copy(p, members)
	return p
}

func (d dialect) addNullable(to object) {
	if d == version2 {
		to["x-nullable"] = true
	} else {
		to["nullable"] = true
	}
}

func (d dialect) quantity() object {
	const description = "A quantity, such as 500m, 2 or 1Gi."
	if d == version2 {
		return object{"type": "string", "description": description}
	}
	return object{"oneOf": []object{{"type": "string"}, {"type": "number"}}, "description": description}
}

// intOrString returns the schema of an intOrString. In version 2 it has no type, because a schema
// can only have one.
func (d dialect) intOrString() object {
	out := object{"x-kubernetes-int-or-string": true, "description": "A number or a text."}
	if d == version3 {
		out["format"], out["oneOf"] = "int-or-string", []object{{"type": "integer"}, {"type": "string"}}
	}
	return out
}

// document returns a document with the members that all documents have.
func (d dialect) document(paths, components object) object {
	info := object{"title": "Quorate", "version": "v1"}
	const scheme = "BearerToken"
	security := []object{{scheme: []string{}}}
	if d == version2 {
		return object{
			"swagger": "2.0", "info": info, "paths": paths, "definitions": components, "security": security,
			"securityDefinitions": object{scheme: object{
				"type": "apiKey", "in": "header", "name": "authorization", "description": "Bearer and a token.",
			}},
		}
	}
	return object{
		"openapi": "3.0.0", "info": info, "paths": paths, "security": security,
		"components": object{
			"schemas": components, "securitySchemes": object{scheme: object{"type": "http", "scheme": "bearer"}},
		},
	}
}
