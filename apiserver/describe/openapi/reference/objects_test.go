package reference

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-openapi/spec"
	"github.com/go-openapi/strfmt"
	"github.com/go-openapi/validate"
)

// judge returns what is wrong with an object of the example's kind, or nil.
type judge func(e *example, object any) error

// judgesOf returns the validators of both versions.
func judgesOf(t *testing.T, d *documents) map[string]judge {
	t.Helper()
	loaded := map[string]*openapi3.T{}
	for path, text := range d.version3 {
		loaded[path] = load3(t, text)
	}
	whole := load2(t, d.version2).Spec()
	byKind := map[string]*spec.Schema{}
	for _, definition := range whole.Definitions {
		kinds, _ := definition.Extensions["x-kubernetes-group-version-kind"].([]any)
		for _, kind := range kinds {
			byKind[nameOf(kind)] = &definition
		}
	}
	expanded := map[string]*validate.SchemaValidator{}
	return map[string]judge{
		"v3": func(e *example, object any) error {
			at, there := d.kinds[e.kind]
			if !there {
				t.Fatalf("%s has no schema", e)
			}
			return loaded[at.path].Components.Schemas[at.name].Value.VisitJSON(object, openapi3.MultiErrors())
		},
		"v2": func(e *example, object any) error {
			if expanded[e.kind] == nil {
				if byKind[e.kind] == nil {
					t.Fatalf("%s has no definition", e)
				}
				if err := spec.ExpandSchema(byKind[e.kind], whole, nil); err != nil {
					t.Fatal(err)
				}
				allowNull(byKind[e.kind])
				expanded[e.kind] = validate.NewSchemaValidator(byKind[e.kind], nil, "", strfmt.Default)
			}
			return expanded[e.kind].Validate(object).AsError()
		},
	}
}

// allowNull translates x-nullable, which the validator does not know.
func allowNull(s *spec.Schema) {
	s.Nullable = s.Extensions["x-nullable"] == true
	for name, property := range s.Properties {
		allowNull(&property)
		s.Properties[name] = property
	}
	if s.Items != nil {
		allowNull(s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		allowNull(s.AdditionalProperties.Schema)
	}
}

// nameOf returns the name of a kind in an extension, in the form of kindName.
func nameOf(kind any) string {
	gvk, _ := kind.(map[string]any)
	group, _ := gvk["group"].(string)
	version, _ := gvk["version"].(string)
	name, _ := gvk["kind"].(string)
	return kindName(group, version, name)
}

// objects checks that the schemas accept the objects that the server stores and serves.
func objects(t *testing.T, judges map[string]judge) {
	t.Helper()
	for version, judge := range judges {
		for _, e := range examples(t) {
			object := e.object(t)
			if err := judge(&e, object); err != nil {
				t.Errorf("%s: %s: %.1500v", version, &e, err)
			}
		}
	}
}

// mistakes checks that the schemas reject what the server rejects, as far as they can express it.
func mistakes(t *testing.T, judges map[string]judge) {
	t.Helper()
	objects := map[string]*example{}
	for _, e := range examples(t) {
		objects[e.file] = &e
	}
	for _, c := range []struct {
		file, path string
		value      string // JSON; "" removes the member
	}{
		{"pod", "spec.containers", ""},
		{"pod", "spec.containers", "[]"},
		{"pod", "spec.containers", "{}"},
		{"pod", "spec.containers.0.name", `"Upper"`},
		{"pod", "spec.containers.0.name", `"` + strings.Repeat("x", 64) + `"`},
		{"pod", "spec.containers.0.image", `""`},
		{"pod", "spec.containers.0.ports", `[{"containerPort":0}]`},
		{"pod", "spec.containers.0.ports", `[{"containerPort":"80"}]`},
		{"pod", "spec.containers.0.imagePullPolicy", `"Sometimes"`},
		{"pod", "spec.containers.0.stdin", `"true"`},
		{"pod", "spec.restartPolicy", `"Perhaps"`},
		{"pod", "metadata.labels", `{"a":1}`},
		{"pod", "metadata.labels", `{"a":"-"}`},
		{"pod", "metadata.creationTimestamp", `"yesterday"`},
		{"pod", "spec.terminationGracePeriodSeconds", "1.5"},
		{"statefulset", "spec.replicas", "-1"},
		{"statefulset", "spec.podManagementPolicy", `"Chaotic"`},
		{"statefulset", "spec.selector", ""},
		{"persistentvolume", "spec.accessModes", `["Sometimes"]`},
		{"configmap", "data", `{"a":{}}`},
		{"role", "rules", `[{"verbs":[]}]`},
	} {
		e := objects[c.file]
		for version, judge := range judges {
			object := e.object(t)
			if err := judge(e, object); err != nil {
				t.Fatalf("%s: %v", e, err)
			}
			var value any
			if c.value != "" {
				decode(t, []byte(c.value), &value)
			}
			change(t, object, strings.Split(c.path, "."), value, c.value == "")
			if judge(e, object) == nil {
				t.Errorf("%s: %s: %s may be %s", version, e, c.path, c.value)
			}
		}
	}
}

// change sets a member or removes it.
func change(t *testing.T, object any, path []string, value any, away bool) {
	t.Helper()
	for i, name := range path {
		switch at := object.(type) {
		case map[string]any:
			if i < len(path)-1 {
				object = at[name]
				continue
			}
			if away {
				delete(at, name)
			} else {
				at[name] = value
			}
			return
		case []any:
			var index int
			decode(t, json.RawMessage(name), &index)
			object = at[index]
		default:
			t.Fatalf("no %s in %v", name, object)
		}
	}
}
