package schema_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"quorate/apiserver/objects/schema"
)

// TestPartial extracts the metadata of full objects of all kinds (B26, B31).
func TestPartial(t *testing.T) {
	t.Parallel()
	cat := catalog(t)
	partial, of := cat.Unstored("meta.k8s.io/v1", "PartialObjectMetadata"), cat.Kind("/api/v1", "configmaps")
	names, err := filepath.Glob(filepath.Join(fullObjects, "*.json"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var value bytes.Buffer
		if err := json.Compact(&value, text); err != nil {
			t.Fatal(err)
		}
		var object struct{ Metadata json.RawMessage }
		if err := json.Unmarshal(value.Bytes(), &object); err != nil {
			t.Fatal(err)
		}
		got, err := partial.AppendPartial([]byte("before "), value.Bytes(), of)
		want := `before {"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":` + string(object.Metadata) + `}`
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, want)
		}
		if _, problems, err := partial.Decode(got[len("before "):]); err != nil || len(problems.List()) > 0 {
			t.Errorf("%s: %v, %v", name, err, problems.List())
		}
	}
}

// FuzzPartial checks that for any bytes the extracted metadata is a JSON value contained in them,
// or an error.
func FuzzPartial(f *testing.F) {
	cat := catalog(f)
	partial, of := cat.Unstored("meta.k8s.io/v1", "PartialObjectMetadata"), cat.Kind("/api/v1", "configmaps")
	f.Add([]byte(`{"kind":"K","apiVersion":"v1","metadata":{"name":"a\"}","labels":{"x":"{"}},"spec":{}}`))
	f.Add([]byte(`{"kind":"K","apiVersion":"v1","metadata":{`))
	f.Add([]byte(`{"kind":"K"}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		got, err := partial.AppendPartial(nil, value, of)
		if err != nil {
			return
		}
		var object struct{ Metadata json.RawMessage }
		if err := json.Unmarshal(got, &object); err != nil {
			t.Fatalf("%v: %q", err, got)
		}
		if !bytes.Contains(value, object.Metadata) {
			t.Errorf("%q is not in %q", object.Metadata, value)
		}
	})
}

// TestBorrow checks that Borrow copies no strings and rejects the bytes of another kind.
func TestBorrow(t *testing.T) {
	t.Parallel()
	cat := catalog(t)
	k := cat.Kind("/api/v1", "configmaps")
	value := []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m"},"data":{"a":"x\ny"}}`)
	err := k.Borrow(value, func(root *schema.Value) error {
		if got := root.Field("data").Get("a").Str(); got != "x\ny" {
			t.Errorf("read %q", got)
		}
		return os.ErrClosed
	})
	if err != os.ErrClosed {
		t.Errorf("%v", err)
	}
	if err := cat.Kind("/api/v1", "pods").Borrow(value, func(*schema.Value) error { return nil }); err == nil {
		t.Error("a ConfigMap was read as a Pod")
	}
}
