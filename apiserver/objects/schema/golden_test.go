package schema_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
	"quorate/raftstore/state"
)

var update = flag.Bool("update", false, "write the golden files anew")

const maxYAML = 1 << 20

func catalog(t testing.TB) *schema.Catalog {
	t.Helper()
	cat, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

// TestObjects creates an object of each kind and compares its stored form with golden files.
func TestObjects(t *testing.T) {
	for _, k := range kindsOfOwnForm(t) {
		t.Run(k.Kind+strings.ReplaceAll(k.Prefix, "/", "_"), func(t *testing.T) {
			name := goldenName(k)
			body, err := os.ReadFile(filepath.Join("testdata", "objects", name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			enc := create(t, k, body)
			stored := state.Splice(enc.Value, enc.VersionOffset, 42)
			golden(t, name+".json", indent(t, stored))
			text, err := schema.ToYAML(stored)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".yaml", text)
			roundTrip(t, k.Storage(), enc, stored, text)
			if k.Storage() != k {
				o, err := k.Storage().DecodeStored(stored)
				if err != nil {
					t.Fatal(err)
				}
				golden(t, name+".view.json", indent(t, restore(t, k, o).AppendJSON(nil)))
			}
		})
	}
}

// create runs the steps of a create request on a YAML body.
func create(t *testing.T, k *schema.Kind, body []byte) schema.Encoded {
	t.Helper()
	body, err := schema.YAMLToJSON(body, maxYAML)
	if err != nil {
		t.Fatal(err)
	}
	o, problems, err := k.Decode(body)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems.List() {
		if p != `unknown field "spec.priority"` {
			t.Errorf("A46: %s", p)
		}
	}
	k.PrepareCreate(o)
	o.SetUID("01234567-89ab-cdef-0123-456789abcdef")
	o.SetCreationTimestamp(time.Unix(1514862245, 0))
	o.SetSelfLink(k.Prefix + "/" + k.Plural + "/" + o.Name())
	if errs := k.ValidateCreate(o); len(errs) > 0 {
		t.Fatal(o.Name(), errs)
	}
	k.Canonicalize(schema.Create, o, nil)
	return k.ToStorage(o).Encode()
}

// roundTrip checks that stored bytes decode to the same object, also after conversion to YAML and
// back, and that defaulting and encoding it once more changes nothing (E20, M35).
func roundTrip(t *testing.T, k *schema.Kind, enc schema.Encoded, stored, text []byte) {
	t.Helper()
	o, err := k.DecodeStored(stored)
	if err != nil {
		t.Fatal(err)
	}
	again, problems, err := k.Decode(stored)
	if err != nil || len(problems.List()) > 0 {
		t.Fatalf("decode what was stored: %v %v", err, problems.List())
	}
	k.PrepareUpdate(schema.Update, again, o)
	if errs := k.ValidateUpdate(schema.Update, again, o); len(errs) > 0 {
		t.Error(o.Name(), errs)
	}
	k.Canonicalize(schema.Update, again, o)
	was := &state.Object{Value: stored, Version: 42, VersionOffset: enc.VersionOffset}
	if e := again.Encode(); !e.SameAs(was) || e.Fields != enc.Fields || e.Labels != enc.Labels {
		t.Errorf("E20: stored  %s\nreplaced %s", enc.Value, e.Value)
	}
	back, err := schema.YAMLToJSON(text, maxYAML)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(back, stored) {
		t.Errorf("B17: stored  %s\nthrough YAML %s", stored, back)
	}
}

func indent(t *testing.T, value []byte) []byte {
	t.Helper()
	out, err := schema.Indent(value)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

// TestAllocations limits the allocations of a create, including hooks.
func TestAllocations(t *testing.T) {
	cat := catalog(t)
	for name, tc := range map[string]struct {
		kind *schema.Kind
		most float64
	}{
		"configmap": {cat.Kind("/api/v1", "configmaps"), 40},
		"pod":       {cat.Kind("/api/v1", "pods"), 130},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join("testdata", "objects", name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = schema.YAMLToJSON(body, maxYAML); err != nil {
				t.Fatal(err)
			}
			got := testing.AllocsPerRun(50, func() { createQuietly(t, tc.kind, body) })
			t.Logf("%v allocations", got)
			if got > tc.most {
				t.Errorf("%v allocations, more than %v", got, tc.most)
			}
		})
	}
}

func createQuietly(tb testing.TB, k *schema.Kind, body []byte) {
	o, _, err := k.Decode(body)
	if err != nil {
		tb.Fatal(err)
	}
	k.PrepareCreate(o)
	o.SetUID("01234567-89ab-cdef-0123-456789abcdef")
	if errs := k.ValidateCreate(o); len(errs) > 0 {
		tb.Fatal(errs.ToAggregate())
	}
	k.Canonicalize(schema.Create, o, nil)
	o.Encode()
}
