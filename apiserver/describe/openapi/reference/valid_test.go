package reference

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-openapi/loads"
	"github.com/go-openapi/spec"
	"github.com/go-openapi/strfmt"
	"github.com/go-openapi/validate"
	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"github.com/google/go-cmp/cmp"
	yaml "go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"
	kubeproto "k8s.io/kube-openapi/pkg/util/proto"
)

// The media types that stock clients request.
const (
	protobuf2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	protobuf3 = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
)

// load3 parses a version 3 document.
func load3(t *testing.T, text []byte) *openapi3.T {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func valid3(t *testing.T, text []byte) {
	t.Helper()
	if err := load3(t, text).Validate(context.Background()); err != nil {
		t.Error(err)
	}
}

// load2 parses a version 2 document.
func load2(t *testing.T, text []byte) *loads.Document {
	t.Helper()
	document, err := loads.Analyzed(json.RawMessage(text), "2.0")
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// valid2 validates the document against the schema of Swagger 2.0, and the paths of some resources
// more thoroughly. Validating all of them would take a minute.
func valid2(t *testing.T, text []byte) {
	t.Helper()
	var document map[string]any
	decode(t, text, &document)
	if err := validate.AgainstSchema(spec.MustLoadSwagger20Schema(), document, strfmt.Default); err != nil {
		t.Error(err)
	}
	paths, _ := document["paths"].(map[string]any)
	maps.DeleteFunc(paths, func(path string, _ any) bool {
		return !strings.Contains(path, "/configmaps") && !strings.HasSuffix(path, "/scale") && !strings.Contains(path, "/crontabs")
	})
	definitions, _ := document["definitions"].(map[string]any)
	needed := map[string]bool{}
	need(definitions, paths, needed)
	maps.DeleteFunc(definitions, func(name string, _ any) bool { return !needed[name] })
	cut, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	errs, _ := validate.NewSpecValidator(spec.MustLoadSwagger20Schema(), strfmt.Default).Validate(load2(t, cut))
	for _, err := range errs.Errors {
		t.Error(err)
	}
}

// need marks the definitions that a value refers to.
func need(definitions map[string]any, value any, needed map[string]bool) {
	collect(value, func(reference string) {
		name := strings.TrimPrefix(reference, "#/definitions/")
		if !needed[name] {
			needed[name] = true
			need(definitions, definitions[name], needed)
		}
	})
}

// sameInProtobuf3 checks that the protobuf form has the same content as the JSON, and that stock
// clients can parse it.
func sameInProtobuf3(t *testing.T, d *documents, path string) {
	t.Helper()
	document := &openapi_v3.Document{}
	if err := proto.Unmarshal([]byte(d.get(t, d.index[path], protobuf3)), document); err != nil {
		t.Fatal(err)
	}
	text, err := document.YAMLValue("")
	if err != nil {
		t.Fatal(err)
	}
	same(t, d.version3[path], text)
	if _, err := kubeproto.NewOpenAPIV3Data(document); err != nil {
		t.Error(err)
	}
}

func sameInProtobuf2(t *testing.T, d *documents) {
	t.Helper()
	document := &openapi_v2.Document{}
	if err := proto.Unmarshal([]byte(d.get(t, "/openapi/v2", protobuf2)), document); err != nil {
		t.Fatal(err)
	}
	text, err := document.YAMLValue("")
	if err != nil {
		t.Fatal(err)
	}
	same(t, d.version2, text)
	if _, err := kubeproto.NewOpenAPIData(document); err != nil {
		t.Error(err)
	}
}

// same compares a document in JSON with one in YAML, except for values that protobuf does not
// distinguish from unset ones.
func same(t *testing.T, inJSON, inYAML []byte) {
	t.Helper()
	var want, got any
	decode(t, inJSON, &want)
	if err := yaml.Unmarshal(inYAML, &got); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	decode(t, text, &got)
	if diff := cmp.Diff(pruned(want, isZero), pruned(got, isZero)); diff != "" {
		t.Errorf("protobuf says otherwise: %.3000s", diff)
	}
}

// pruned returns the value without the members for which gone returns true.
func pruned(value any, gone func(any) bool) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range value {
			if member = pruned(member, gone); !gone(member) {
				out[name] = member
			}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, item := range value {
			out[i] = pruned(item, gone)
		}
		return out
	}
	return value
}

func isZero(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return value == nil || value == false || value == 0.0 || value == ""
}

func isNull(value any) bool { return value == nil }
