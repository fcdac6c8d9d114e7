package validation

import (
	"slices"

	"quorate/apiserver/objects/schema"
)

const immutableText = "field is immutable"

// definitionUpdate rejects changes of what stored objects depend on.
func definitionUpdate(c *schema.Context, root, old *schema.Value) {
	if c.Operation == schema.UpdateStatus {
		return
	}
	spec, before := root.Field("spec"), old.Field("spec")
	fixed := [][]string{{"group"}, {"names", "plural"}}
	if Established(old) || InstancesOf(c.Old) != "" {
		fixed = append(fixed, []string{"scope"}, []string{"names", "kind"})
	}
	for _, path := range fixed {
		if v := spec.Lookup(path...); v.Str() != before.Lookup(path...).Str() {
			at := []any{"spec"}
			for _, name := range path {
				at = append(at, name)
			}
			c.Invalid(v, immutableText, at...)
		}
	}
	selectableFieldsKept(c, spec, before)
}

// Established reports whether the status of a definition says that the kind is served.
func Established(definition *schema.Value) bool {
	for _, condition := range definition.Lookup("status", "conditions").Items() {
		if condition.Field("type").Str() == "Established" {
			return condition.Field("status").Str() == "True"
		}
	}
	return false
}

// selectableFieldsKept rejects an update that makes a field selectable that is not selectable in
// any version of the stored definition. The values of selectable fields are stored when an object
// is written, so that a selector would miss the objects written before.
func selectableFieldsKept(c *schema.Context, spec, before *schema.Value) {
	var known []string
	for _, v := range before.Field("versions").Items() {
		for _, f := range v.Field("selectableFields").Items() {
			known = append(known, f.Field("jsonPath").Str())
		}
	}
	for i, v := range spec.Field("versions").Items() {
		for j, f := range v.Field("selectableFields").Items() {
			if path := f.Field("jsonPath"); !slices.Contains(known, path.Str()) {
				c.Forbidden("fields can only be made selectable when the definition is created, because the stored objects could not be found by "+
					path.Str(), "spec", "versions", i, "selectableFields", j, "jsonPath")
			}
		}
	}
}
