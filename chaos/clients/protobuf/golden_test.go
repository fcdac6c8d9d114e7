// Package protobuf_test reads and writes the protobuf of objects with the types that stock Go
// clients are made of.
package protobuf_test

//lint:file-ignore SA1019 what later versions discourage is part of this API

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// stock is a type as client-go has it.
type stock interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// kindFile is what the tests need of a kind's file.
type kindFile struct {
	Kind, Group, Version, Plural, Storage string
	Messages                              map[string]struct {
		Fields map[string]struct{ Upstream string }
	}
}

// stockScheme has the types of client-go and of the clients of CustomResourceDefinitions.
var stockScheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err) // their types are compiled in
		}
	}
	return s
}()

// newStock returns how to make an object of a stock client's type for a kind; nil when there is
// none in that version, as for autoscaling/v2beta1 and for the kinds of other vendors.
func newStock(k kindFile) func() stock {
	gvk := schema.GroupVersionKind{
		Group: strings.Replace(k.Group, ".platform.io", ".k8s.io", 1), Version: k.Version, Kind: k.Kind,
	}
	if !stockScheme.Recognizes(gvk) {
		return nil
	}
	return func() stock {
		o, err := stockScheme.New(gvk)
		if err != nil {
			panic(err) // it is recognized
		}
		return o.(stock)
	}
}

// stockTypes returns client-go's types by the names of the golden files: of the kinds as they are
// stored, and of their other versions, which share the files.
func stockTypes(t *testing.T) (subjects, versions map[string]func() stock) {
	t.Helper()
	subjects, versions = map[string]func() stock{}, map[string]func() stock{}
	stored, files := map[string]string{}, kindFiles(t)
	for name, k := range files {
		if _, err := os.Stat(filepath.Join(testdata, "golden", "full", name+".pb")); err != nil {
			continue // of another version, or never stored
		}
		stored[strings.TrimPrefix(k.Group+"/"+k.Plural, "/")] = name
		if typ := newStock(k); typ != nil {
			subjects[name] = typ
		}
	}
	for _, k := range files {
		if name, typ := stored[k.Storage], newStock(k); k.Storage != "" && len(k.Messages) == 0 && typ != nil {
			versions[name] = typ
		}
	}
	if len(subjects) < 20 || len(versions) < 7 {
		t.Fatalf("only %d kinds and %d further versions with types of client-go", len(subjects), len(versions))
	}
	return subjects, versions
}

// kindFiles returns the files of kinds by their names without extension.
func kindFiles(t *testing.T) map[string]kindFile {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(tree, "kinds", "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	files := map[string]kindFile{}
	for _, path := range paths {
		var k kindFile
		readYAML(t, path, &k)
		files[strings.TrimSuffix(filepath.Base(path), ".yaml")] = k
	}
	return files
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

var update = flag.Bool("update", false, "write what stock types write anew")

var (
	tree     = filepath.Join("..", "..", "..", "apiserver")
	testdata = filepath.Join(tree, "objects", "schema", "testdata")
)

func golden(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testdata, "golden", "full", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestStockTypesReadOurProtobuf_B20: of an object with every field, a stock type gets the same from
// our protobuf as from our JSON, once the neutral names in it are upstream's.
func TestStockTypesReadOurProtobuf_B20(t *testing.T) {
	names := upstreamNames(t)
	subjects, versions := stockTypes(t)
	for version, types := range map[string]map[string]func() stock{"stored": subjects, "other": versions} {
		for name, subject := range types {
			t.Run(version+"/"+name, func(t *testing.T) { reads(t, name, subject, names) })
		}
	}
}

func reads(t *testing.T, name string, subject func() stock, names map[string]string) {
	t.Helper()
	fromProtobuf, fromJSON := subject(), subject()
	if err := fromProtobuf.Unmarshal(golden(t, name+".pb")); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(renamed(t, golden(t, name+".json"), names), fromJSON); err != nil {
		t.Fatal(err)
	}
	if got, want := text(t, fromProtobuf), text(t, fromJSON); !reflect.DeepEqual(got, want) {
		for _, line := range difference("", got, want) {
			t.Error(line)
		}
	}
}

// TestStockProtobuf_B20 holds the files to what stock types write today; that we read them is
// tested beside the codec.
func TestStockProtobuf_B20(t *testing.T) {
	subjects, _ := stockTypes(t)
	for name, subject := range subjects {
		t.Run(name, func(t *testing.T) {
			o := subject()
			if err := o.Unmarshal(golden(t, name+".pb")); err != nil {
				t.Fatal(err)
			}
			writes(t, name, o)
		})
	}
	for name, o := range map[string]stock{
		"status": &metav1.Status{
			Status: metav1.StatusFailure, Message: "m", Reason: metav1.StatusReasonNotFound, Code: 404,
			Details: &metav1.StatusDetails{Name: "n", Kind: "pods", RetryAfterSeconds: 2, Causes: []metav1.StatusCause{{Type: "r", Field: "f"}}},
		},
		"deleteoptions": &metav1.DeleteOptions{
			GracePeriodSeconds: new(int64), Preconditions: metav1.NewUIDPreconditions("u"), OrphanDependents: new(bool),
			PropagationPolicy: ptr(metav1.DeletePropagationOrphan), DryRun: []string{metav1.DryRunAll},
		},
		"jsonschemaprops": everyKeyword(),
		"listmeta":        &metav1.ListMeta{SelfLink: "s", ResourceVersion: "7", Continue: "c", RemainingItemCount: ptr(int64(300))},
		"watchevent":      &metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: []byte("{}")}},
	} {
		t.Run(name, func(t *testing.T) { writes(t, name, o) })
	}
}

func ptr[T any](v T) *T { return &v }

// writes compares what a stock object writes with the files.
func writes(t *testing.T, name string, o stock) {
	t.Helper()
	raw, err := o.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	plain, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	for ext, got := range map[string][]byte{".pb": raw, ".json": append(plain, '\n')} {
		path := filepath.Join(testdata, "stock", name+ext)
		if *update {
			if err := os.WriteFile(path, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: got %q\nwant %q", path, got, want)
		}
	}
}

// text returns an object as JSON, decoded, without what only one of JSON and protobuf carries: kind
// and apiVersion of objects, which upstream drops from protobuf.
func text(t *testing.T, o any) any {
	t.Helper()
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	dropTypeMeta(out)
	return out
}

func dropTypeMeta(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, object := v["metadata"]; object {
			delete(v, "kind")
			delete(v, "apiVersion")
		}
		for _, member := range v {
			dropTypeMeta(member)
		}
	case []any:
		for _, item := range v {
			dropTypeMeta(item)
		}
	}
}

// upstreamNames returns upstream's names of the fields that have neutral ones, as the kind files
// say.
func upstreamNames(t *testing.T) map[string]string {
	t.Helper()
	files := slices.Collect(maps.Values(kindFiles(t)))
	paths, err := filepath.Glob(filepath.Join(tree, "kinds", "types", "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		var types kindFile
		readYAML(t, path, &types)
		files = append(files, types)
	}
	names := map[string]string{}
	for _, file := range files {
		for _, m := range file.Messages {
			for name, f := range m.Fields {
				if f.Upstream != "" {
					names[name] = f.Upstream
				}
			}
		}
	}
	return names
}

// renamed returns JSON with members renamed.
func renamed(t *testing.T, text []byte, names map[string]string) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(rename(v, names))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func rename(v any, names map[string]string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			if other := names[name]; other != "" {
				name = other
			}
			out[name] = rename(member, names)
		}
		return out
	case []any:
		for i := range v {
			v[i] = rename(v[i], names)
		}
	}
	return v
}

// difference lists the places where two JSON values differ.
func difference(path string, got, want any) []string {
	g, ok := got.(map[string]any)
	w, also := want.(map[string]any)
	if ok && also {
		var out []string
		keys := maps.Clone(g)
		maps.Copy(keys, w)
		for key := range keys {
			out = append(out, difference(path+"."+key, g[key], w[key])...)
		}
		return out
	}
	if reflect.DeepEqual(got, want) {
		return nil
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	return []string{path + ": " + string(a) + " from protobuf, " + string(b) + " from JSON"}
}
