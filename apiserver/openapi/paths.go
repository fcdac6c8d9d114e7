package openapi

import "quorate/apiserver/schema"

// object is a JSON object; its members are written in sorted order.
type object = map[string]any

// openAPI is the document of the kinds of one group and version.
func openAPI(kinds []*schema.Kind) object {
	schemas := newSchemas(kinds)
	paths := object{}
	for _, k := range kinds {
		addPaths(paths, k, schemas)
	}
	return object{
		"openapi":    "3.0.0",
		"info":       object{"title": "Quorate", "version": "v1"},
		"paths":      paths,
		"components": object{"schemas": schemas.all},
	}
}

// addPaths adds a kind's collections and items, with the options that clients look up.
func addPaths(paths object, k *schema.Kind, s *schemas) {
	all := k.Prefix + "/" + k.Plural
	collection := all
	var parameters []object
	if k.Namespaced {
		collection = k.Prefix + "/namespaces/{namespace}/" + k.Plural
		parameters = append(parameters, pathParameter("namespace"))
		paths[all] = operations(k, s, map[string]string{
			"get": listActions(k, schema.OpListAll), "post": action(k, schema.OpCreateClusterWide, "post"),
		}, nil)
	}
	paths[collection] = operations(k, s, map[string]string{
		"get": listActions(k, schema.OpList), "post": action(k, schema.OpCreate, "post"),
	}, parameters)
	// Clients read from the options of patch that the server checks fields itself, and leave that to it (L16).
	paths[collection+"/{name}"] = operations(k, s, map[string]string{
		"get": action(k, schema.OpRead, "get"), "put": action(k, schema.OpReplace, "put"),
		"patch": action(k, schema.OpPatch, "patch"), "delete": action(k, schema.OpDelete, "delete"),
	}, append(parameters, pathParameter("name")))
}

func action(k *schema.Kind, op schema.Operations, name string) string {
	if !k.Operations.Has(op) {
		return ""
	}
	return name
}

func listActions(k *schema.Kind, op schema.Operations) string { return action(k, op, "list") }

// operations describes the methods of one path whose action is not empty.
func operations(k *schema.Kind, s *schemas, actions map[string]string, parameters []object) object {
	item := object{}
	if len(parameters) > 0 {
		item["parameters"] = parameters
	}
	for method, action := range actions {
		if action == "" {
			continue
		}
		result := s.kindReference(k)
		if action == "list" {
			result = s.listReference(k)
		}
		operation := object{
			"x-kubernetes-action":             action,
			"x-kubernetes-group-version-kind": groupVersionKind(k),
			"responses": object{"200": object{
				"description": "OK", "content": object{"application/json": object{"schema": result}},
			}},
		}
		if queries := queryParameters(action); len(queries) > 0 {
			operation["parameters"] = queries
		}
		if action == "post" || action == "put" || action == "patch" {
			operation["requestBody"] = object{"content": object{"application/json": object{"schema": s.kindReference(k)}}}
		}
		item[method] = operation
	}
	return item
}

func groupVersionKind(k *schema.Kind) object {
	return object{"group": k.Group, "version": k.Version, "kind": k.Kind}
}

func queryParameters(action string) []object {
	var names []string
	switch action {
	case "post", "put", "patch":
		names = []string{"dryRun", "fieldManager", "fieldValidation", "pretty"}
	case "delete":
		names = []string{"dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy", "pretty"}
	case "list":
		names = []string{"continue", "fieldSelector", "labelSelector", "limit", "pretty", "resourceVersion",
			"resourceVersionMatch", "timeoutSeconds", "watch"}
	case "get":
		names = []string{"pretty", "resourceVersion"}
	}
	parameters := make([]object, len(names))
	for i, name := range names {
		parameters[i] = object{"name": name, "in": "query", "schema": object{"type": queryType(name)}}
	}
	return parameters
}

func queryType(name string) string {
	switch name {
	case "gracePeriodSeconds", "limit", "timeoutSeconds":
		return "integer"
	case "orphanDependents", "watch":
		return "boolean"
	}
	return "string"
}

func pathParameter(name string) object {
	return object{"name": name, "in": "path", "required": true, "schema": object{"type": "string"}}
}
