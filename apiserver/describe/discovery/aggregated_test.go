package discovery

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestAggregated compares the aggregated documents of a few kinds with golden files (L9): with a
// subresource of another kind, a kind that is not stored, and one defined by a ThirdPartyResource.
func TestAggregated(t *testing.T) {
	t.Parallel()
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	static, err := New(Config{Kinds: []*schema.Kind{
		catalog.Kind("/api/v1", "namespaces"), catalog.Kind("/apis/apps/v1beta2", "statefulsets"),
		catalog.Kind("/apis/apps/v1beta2", "daemonsets"), catalog.Unstored("authentication.k8s.io/v1", "SelfSubjectReview"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	made, err := catalog.Schemaless(schema.Definition{
		Kind: "CronTab", Group: "b.example.com", Plural: "crontabs", Versions: []string{"v1beta1", "v1"}, Resource: "x",
	})
	if err != nil {
		t.Fatal(err)
	}
	all, err := static.With(made, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"api.json": "/api", "apis.json": "/apis"} {
		turned := all.Get(path).turned
		if len(turned) != 2 || turned[0].target.Version != "v2" || turned[1].target.Version != "v2beta1" {
			t.Fatalf("%s: %v", path, turned)
		}
		var got bytes.Buffer
		if err := json.Indent(&got, turned[0].document.text, "", "  "); err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("not as in %s:\n%s", golden, got.Bytes())
		}
		if older := bytes.Replace(turned[0].document.text, []byte("/v2"), []byte("/v2beta1"), 1); !bytes.Equal(older, turned[1].document.text) {
			t.Errorf("%s: the older version says something else: %s", path, turned[1].document.text)
		}
	}
	if d := all.Get("/apis/apps/v1beta2"); d.turned != nil {
		t.Error("the list of one group is turned into the list of all")
	}
}
