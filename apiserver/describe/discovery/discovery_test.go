package discovery

import (
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestCompareVersions(t *testing.T) {
	t.Parallel()
	want := []string{"v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "any", "foo1", "stable", "v01"}
	got := slices.Sorted(slices.Values(want))
	slices.SortFunc(got, compareVersions)
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

// TestWith checks that adding and removing kinds changes their documents only.
func TestWith(t *testing.T) {
	t.Parallel()
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	static, err := New(Config{Kinds: catalog.Kinds(), Address: "a:1", Paths: []string{"/metrics"}})
	if err != nil {
		t.Fatal(err)
	}
	define := func(kind, group string) []*schema.Kind {
		made, err := catalog.Schemaless(schema.Definition{Kind: kind, Group: group, Plural: strings.ToLower(kind) + "s", Versions: []string{"v1"}, Resource: kind})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	first, other := define("Some", "x.example.com"), define("Other", "y.example.com")
	one, err := static.With(first, []string{"/openapi/x"})
	if err != nil {
		t.Fatal(err)
	}
	two, err := one.With(slices.Concat(first, other), nil)
	if err != nil {
		t.Fatal(err)
	}
	if path := "/apis/x.example.com/v1"; static.Get(path) != nil || one.Get(path) == nil || one.Get(path) != two.Get(path) {
		t.Errorf("%s: not there, or made again", path)
	}
	if two.Get("/api/v1") != static.Get("/api/v1") {
		t.Error("a document of the files was made again")
	}
	for path, group := range map[string]string{"/apis": "y.example.com", "/": "y.example.com"} {
		if !strings.Contains(string(two.Get(path).text), group) || strings.Contains(string(one.Get(path).text), group) || two.Own()[path] != nil {
			t.Errorf("%s: %s", path, two.Get(path).text)
		}
	}
	if text := string(one.Get("/").text); !strings.Contains(text, `"/openapi/x"`) {
		t.Errorf("a path beside the documents is missing: %s", text)
	}
	back, err := two.With(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if back.Get("/apis/x.example.com") != nil || back.Get("/apis").hash != static.Get("/apis").hash {
		t.Error("what is gone is still told of")
	}
}
