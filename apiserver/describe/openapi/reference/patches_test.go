package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/kube-openapi/pkg/spec3"
	kubeproto "k8s.io/kube-openapi/pkg/util/proto"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/patch"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
)

// patches checks that the server applies strategic merge patches that clients compute with the
// documents as intended (F14).
func patches(t *testing.T, d *documents) {
	t.Helper()
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	models := modelsOf(t, d)
	parsed := map[string]*spec3.OpenAPI{}
	tried := 0
	for _, e := range examples(t) {
		at := d.kinds[e.kind]
		if parsed[at.path] == nil {
			parsed[at.path] = &spec3.OpenAPI{}
			decode(t, d.version3[at.path], parsed[at.path])
		}
		document := parsed[at.path]
		if !takesStrategic(document, e.kind) {
			continue
		}
		lookups := []strategicpatch.LookupPatchMeta{
			strategicpatch.PatchMetaFromOpenAPIV3{
				Schema: document.Components.Schemas[at.name], SchemaList: document.Components.Schemas,
			},
			strategicpatch.NewPatchMetaFromOpenAPI(models[e.kind]),
		}
		k := kindOf(catalog, "/"+at.path, e.kind)
		for _, variant := range variants(t, e.text) {
			lookup := lookups[tried%len(lookups)]
			if err := tryPatch(k, e.text, variant, lookup); err != nil {
				t.Errorf("%s, by %T: %v", &e, lookup, err)
			}
			tried++
		}
	}
	if tried < 500 {
		t.Errorf("only %d variants", tried)
	}
}

func kindOf(catalog *schema.Catalog, prefix, name string) *schema.Kind {
	for _, k := range catalog.Kinds() {
		if k.Prefix == prefix && k.APIVersion+" "+k.Kind == name {
			return k
		}
	}
	return nil
}

// takesStrategic reports whether the document offers strategic merge patches of the kind, by the
// check of kubectl apply.
func takesStrategic(document *spec3.OpenAPI, kind string) bool {
	for _, path := range document.Paths.Paths {
		if path.Patch == nil {
			continue
		}
		var gvk map[string]string
		if err := path.Patch.Extensions.GetObject("x-kubernetes-group-version-kind", &gvk); err == nil && kindName(gvk["group"], gvk["version"], gvk["kind"]) == kind {
			return path.Patch.RequestBody.Content["application/strategic-merge-patch+json"] != nil
		}
	}
	return false
}

// modelsOf parses the kinds of version 2 as stock clients do.
func modelsOf(t *testing.T, d *documents) map[string]kubeproto.Schema {
	t.Helper()
	document := &openapi_v2.Document{}
	if err := proto.Unmarshal([]byte(d.get(t, "/openapi/v2", protobuf2)), document); err != nil {
		t.Fatal(err)
	}
	models, err := kubeproto.NewOpenAPIData(document)
	if err != nil {
		t.Fatal(err)
	}
	byKind := map[string]kubeproto.Schema{}
	for _, name := range models.ListModels() {
		model := models.LookupModel(name)
		served, _ := model.GetExtensions()["x-kubernetes-group-version-kind"].([]any)
		for _, kind := range served {
			gvk, _ := kind.(map[any]any)
			byKind[kindName(fmt.Sprint(gvk["group"]), fmt.Sprint(gvk["version"]), fmt.Sprint(gvk["kind"]))] = model
		}
	}
	return byKind
}

// tryPatch computes the patch from one state of an object to another, and applies it as the server
// does. It compares the results without nulls, which decoding restores.
func tryPatch(k *schema.Kind, from, to []byte, lookup strategicpatch.LookupPatchMeta) error {
	made, err := strategicpatch.CreateTwoWayMergePatchUsingLookupPatchMeta(from, to, lookup)
	if err != nil {
		return err
	}
	parsed, err := patch.Parse(patch.Strategic, made)
	if err != nil {
		return err
	}
	result, err := parsed.Apply(k, compact(from))
	if err != nil {
		return fmt.Errorf("%w: %s", err, made)
	}
	var want, got any
	if err := json.Unmarshal(to, &want); err != nil {
		return err
	}
	if err := json.Unmarshal(result, &got); err != nil {
		return err
	}
	if diff := cmp.Diff(pruned(want, isNull), pruned(got, isNull)); diff != "" {
		return fmt.Errorf("%s: %.1000s", made, diff)
	}
	return nil
}

func compact(text []byte) []byte {
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// edits returns ways to edit a list: remove the first item, remove the last, and change one.
func edits() []func(list []any) []any {
	return []func(list []any) []any{
		func(list []any) []any { return list[1:] },
		func(list []any) []any { return list[:len(list)-1] },
		func(list []any) []any { return append([]any{otherThan(list[0])}, list[1:]...) },
	}
}

// variants returns copies of an object that differ in one list each: for each list, one for each
// kind of edit.
func variants(t *testing.T, text []byte) [][]byte {
	t.Helper()
	var out [][]byte
	ways := edits()
	for {
		var object any
		decode(t, text, &object)
		left := len(out)
		if object = editList(object, &left, ways[len(out)%len(ways)]); left >= 0 {
			return out
		}
		edited, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, edited)
	}
}

// editList edits the list that follows *left others, in the order of names.
func editList(value any, left *int, edit func(list []any) []any) any {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range sorted(value) {
			value[name] = editList(value[name], left, edit)
		}
	case []any:
		if len(value) == 0 {
			return value
		}
		if *left--; *left == -1 {
			return edit(value)
		}
		for i, item := range value {
			value[i] = editList(item, left, edit)
		}
	}
	return value
}

// otherThan changes the last string of an item, or its first number. It returns an empty object or
// list unchanged.
func otherThan(item any) any {
	switch item := item.(type) {
	case string:
		return item + "-changed"
	case float64:
		return item + 1
	case map[string]any:
		names := sorted(item)
		if len(names) == 0 {
			return item
		}
		name := names[len(names)-1]
		item[name] = otherThan(item[name])
	case []any:
		if len(item) > 0 {
			item[0] = otherThan(item[0])
		}
	}
	return item
}

func sorted(object map[string]any) []string { return slices.Sorted(maps.Keys(object)) }
