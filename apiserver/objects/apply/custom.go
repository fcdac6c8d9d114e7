package apply

import (
	"encoding/json"
	"slices"

	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"

	"quorate/apiserver/objects/schema"
)

// customType is the name of the type that the schema of a custom kind defines.
const customType = "custom"

// addCustom adds the fields in the schema of a custom kind to the type of its objects, which has
// the metadata that all kinds share. Extensions such as x-kubernetes-list-type determine which
// lists and maps are atomic.
func (t *typesOf) addCustom(name string, k *schema.Kind) error {
	text, err := k.CustomSchema()
	if err != nil {
		return err
	}
	var document spec.Schema
	if err := json.Unmarshal(text, &document); err != nil {
		return err
	}
	converted, err := schemaconv.ToSchemaFromOpenAPI(map[string]*spec.Schema{customType: &document}, false)
	if err != nil {
		return err
	}
	root := t.defs[slices.IndexFunc(t.defs, func(d smd.TypeDef) bool { return d.Name == name })].Map
	for _, def := range converted.Types {
		switch def.Name {
		case customType:
			root.ElementType = def.Map.ElementType
			root.Fields = appendMissing(root.Fields, def.Map.Fields)
		case atomicType, deducedType: // derive adds them
		default:
			t.defs = append(t.defs, def)
		}
	}
	return nil
}

// appendMissing appends the fields whose names fields does not have.
func appendMissing(fields, more []smd.StructField) []smd.StructField {
	for _, f := range more {
		if !slices.ContainsFunc(fields, func(have smd.StructField) bool { return have.Name == f.Name }) {
			fields = append(fields, f)
		}
	}
	return fields
}
