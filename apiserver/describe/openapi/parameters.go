package openapi

import (
	"maps"
	"slices"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/parameter"
)

const (
	inPath  = "path"
	inQuery = "query"
)

// pathParameters returns the descriptions of the path parameters by name.
func pathParameters() map[string]string {
	return map[string]string{"name": "Name of the object.", "namespace": "Namespace of the objects."}
}

// queryOf returns the query parameters of verbs that all kinds have.
func queryOf(verbs parameter.Verbs) []string {
	return parameter.Documented(verbs, func(string) bool { return false })
}

func listQuery(k *schema.Kind) []string {
	if k.Operations.Has(schema.OpWatchQuery) {
		return queryOf(parameter.List | parameter.ListOrWatch)
	}
	return queryOf(parameter.List)
}

// readQuery returns the query parameters of reads, including those that only some kinds have.
func readQuery(k *schema.Kind) []string {
	return parameter.Documented(parameter.Get, func(name string) bool {
		return slices.Contains(k.Spec.Operations.ReadParams, name)
	})
}

// pathParameter describes a parameter of the path.
func (d dialect) pathParameter(name string) object {
	out := d.parameter(name, inPath, pathParameters()[name], object{"type": "string"})
	out["required"] = true
	return out
}

// queryParameter describes a parameter of the query.
func (d dialect) queryParameter(name string) object {
	p := parameter.Find(name)
	value := object{"type": valueType(p.Type)}
	if p.Values != nil {
		value["enum"] = p.Values
	}
	return d.parameter(name, inQuery, p.Description, value)
}

func (d dialect) parameter(name, in, description string, value object) object {
	out := object{"name": name, "in": in, "description": description}
	if d == version2 {
		maps.Copy(out, value)
	} else {
		out["schema"] = value
	}
	return out
}

// valueType returns the type of a parameter's value in the terms of OpenAPI.
func valueType(t parameter.Type) string {
	switch t {
	case parameter.Boolean:
		return "boolean"
	case parameter.Integer, parameter.Count:
		return "integer"
	default:
		return "string"
	}
}
