package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const widget = `
apiVersion: shop.example.com/v1
kind: Widget
metadata: {name: sample, namespace: default}
spec: {size: 3}
`

// TestKindIsOneFile adds a kind to a copy of the source as one YAML file, builds it and uses the kind with kubectl.
func TestKindIsOneFile(t *testing.T) {
	c := startCluster(t, buildWithKind(t, "testdata/widget.yaml"), 1)
	everyKindHasManifest(t, c)
	wantContains(t, c.kubectl(t, "", "api-resources"), "widgets", "shop.example.com/v1", "Widget")
	wantContains(t, c.kubectl(t, widget, "create", "-f", "-"), "widget.shop.example.com/sample created")
	// What the file says of fields holds: the default is filled in, the bound is kept.
	wantContains(t, c.kubectl(t, "", "get", "wd", "sample", "-o", "yaml"), "size: 3", "colour: plain")
	out, err := c.try(t, "apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: big}\nspec: {size: 11}\n", "create", "-f", "-")
	if err == nil {
		t.Error("a value over its maximum went through")
	}
	wantContains(t, out, "spec.size")
	wantContains(t, c.kubectl(t, "", "delete", "widget", "sample"), "deleted")
}

// everyKindHasManifest compares the kinds that kubectl sees with the manifests that scripts go through.
func everyKindHasManifest(t *testing.T, c *cluster) {
	t.Helper()
	seen := strings.Fields(c.kubectl(t, "", "api-resources", "--verbs=create,list", "-o", "name"))
	manifests, err := filepath.Glob("testdata/kinds/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"widgets.shop.example.com"}
	for _, manifest := range manifests {
		want = append(want, strings.TrimSuffix(filepath.Base(manifest), ".yaml"))
	}
	slices.Sort(seen)
	slices.Sort(want)
	if !slices.Equal(seen, want) {
		t.Errorf("kinds\n%q\nmanifests\n%q", seen, want)
	}
}

// buildWithKind builds the server from a copy of the source with one more kind file.
func buildWithKind(t *testing.T, file string) string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "source")
	if err := os.CopyFS(source, os.DirFS("../..")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(source, "apiserver", "kinds", filepath.Base(file)), text, 0o644); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "quorate")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", source, "-o", binary, "./cmd/quorate")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build with %s: %v\n%s", file, err, out)
	}
	return binary
}
