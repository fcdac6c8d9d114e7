package clients_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// newKinds are files of kinds that the server doesn't have: one namespaced, one cluster-scoped.
var newKinds = filepath.Join("testdata", "newkinds")

const (
	widget = `
apiVersion: shop.example.com/v1
kind: Widget
metadata: {name: sample, namespace: default}
spec: {size: 3}
`
	largeWidget = `
apiVersion: shop.example.com/v1
kind: Widget
metadata: {name: big}
spec: {size: 11}
`
	depot = `
apiVersion: shop.example.com/v1
kind: Depot
metadata: {name: north}
network: 10.0.0.0/8
`
)

// TestKindIsOneFile adds kinds to a copy of the source, each as one YAML file, builds the server
// and uses the kinds with kubectl: discovery, explain, validation and defaults, create, get with
// the kind's columns, and delete.
func TestKindIsOneFile(t *testing.T) {
	c := startCluster(t, buildServer(t, sourceWithNewKinds(t)), 1)
	everyKindHasManifest(t, c)
	t.Run("namespaced", func(t *testing.T) {
		wantLine(t, c.kubectl(t, "", "api-resources"), "widgets", "wd", "shop.example.com/v1", "true", "Widget")
		wantContains(t, c.kubectl(t, "", "explain", "widget.spec"), "Properties of a widget.", "colour", "<string>")
		wantContains(t, c.kubectl(t, widget, "create", "-f", "-"), "widget.shop.example.com/sample created")
		// The field's default is filled in and its bound is enforced.
		wantContains(t, c.kubectl(t, "", "get", "wd", "sample", "-o", "yaml"), "size: 3", "colour: plain")
		out, err := c.try(t, largeWidget, "create", "-f", "-")
		if err == nil {
			t.Error("a value over its maximum was accepted")
		}
		wantContains(t, out, "spec.size")
		table := c.kubectl(t, "", "get", "widgets")
		wantLine(t, table, "NAME", "SIZE")
		wantLine(t, table, "sample", "3")
		wantContains(t, c.kubectl(t, "", "delete", "widget", "sample"), "deleted")
	})
	t.Run("cluster-scoped", func(t *testing.T) {
		wantLine(t, c.kubectl(t, "", "api-resources"), "depots", "dp", "shop.example.com/v1", "false", "Depot")
		wantContains(t, c.kubectl(t, "", "explain", "depot.stock"), "How many widgets there are, by colour.")
		wantContains(t, c.kubectl(t, depot, "create", "-f", "-"), "depot.shop.example.com/north created")
		table := c.kubectl(t, "", "get", "dp")
		wantLine(t, table, "NAME", "NETWORK")
		wantLine(t, table, "north", "10.0.0.0/8")
		wantContains(t, c.kubectl(t, "", "delete", "depot", "north"), "deleted")
	})
}

// TestKindNeedsGoldensOnly adds kinds to a copy of the source and rewrites the golden files there.
// The tests of the packages that derive something from the catalogue must then pass, and no file
// below apiserver may have changed except the new golden files of these kinds.
func TestKindNeedsGoldensOnly(t *testing.T) {
	source := sourceWithNewKinds(t)
	before := checksums(t, source)
	for _, args := range [][]string{
		{"./apiserver/objects/schema", "-update"}, // writes objects, which the tests of the others read
		{"./apiserver/objects/table", "-update"},
		{"./apiserver/objects/...", "./apiserver/describe/..."},
	} {
		if out, err := goTool(append([]string{"test", "-C", source, "-short"}, args...)...); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	count := 0
	for path, sum := range checksums(t, source) {
		if before[path] == sum {
			continue
		}
		count++
		name, _, _ := strings.Cut(filepath.Base(path), ".")
		_, existed := before[path]
		if existed || name != "widget" && name != "depot" || !strings.Contains(path, "testdata") {
			t.Errorf("%s has to change for a new kind", path)
		}
	}
	t.Logf("%d golden files for two kinds", count)
	if count == 0 {
		t.Error("no golden files were written")
	}
}

// sourceWithNewKinds returns the folder of a copy of the source that has the new kinds.
func sourceWithNewKinds(t *testing.T) string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "source")
	if err := os.CopyFS(source, os.DirFS("../..")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(source, "apiserver", "kinds"), os.DirFS(newKinds)); err != nil {
		t.Fatal(err)
	}
	return source
}

// buildServer builds the server from a folder of source and returns the path of the binary.
func buildServer(t *testing.T, source string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "quorate")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", source, "-o", binary, "./cmd/quorate")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build with new kinds: %v\n%s", err, out)
	}
	return binary
}

// checksums returns the SHA-256 of each file under apiserver, by path.
func checksums(t *testing.T, source string) map[string][sha256.Size]byte {
	t.Helper()
	sums := map[string][sha256.Size]byte{}
	err := filepath.WalkDir(filepath.Join(source, "apiserver"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		sums[path] = sha256.Sum256(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

// everyKindHasManifest compares the kinds that kubectl sees with the manifests that the scripts
// create. With -update it writes the manifests that are missing.
func everyKindHasManifest(t *testing.T, c *cluster) {
	t.Helper()
	seen := strings.Fields(c.kubectl(t, "", "api-resources", "--verbs=create,list", "-o", "name"))
	others := aliases(t)
	seen = slices.DeleteFunc(seen, func(name string) bool {
		return strings.HasSuffix(name, ".shop.example.com") || slices.Contains(others, name)
	})
	if *update {
		writeManifests(t, seen)
	}
	manifests, err := filepath.Glob("testdata/kinds/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, manifest := range manifests {
		want = append(want, strings.TrimSuffix(filepath.Base(manifest), ".yaml"))
	}
	slices.Sort(seen)
	slices.Sort(want)
	if !slices.Equal(seen, want) {
		t.Errorf("kinds\n%q\nmanifests\n%q\n-update writes the missing ones", seen, want)
	}
}

// aliases returns the resources that serve the objects of another group. Their objects have
// manifests already.
func aliases(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../apiserver/kinds/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		var kind struct{ Group, Storage string }
		read(t, file, &kind)
		group, plural, named := strings.Cut(kind.Storage, "/")
		if !named {
			group, plural = "", kind.Storage
		}
		if kind.Storage != "" && group != kind.Group {
			found = append(found, strings.TrimSuffix(plural+"."+kind.Group, "."))
		}
	}
	return found
}

// writeManifests writes a manifest for each resource that has none, with the members of the object
// that the tests of the kind create.
func writeManifests(t *testing.T, resources []string) {
	t.Helper()
	files, err := filepath.Glob("../../apiserver/kinds/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		var kind struct{ Kind, APIVersion, Group, Plural, Scope, Storage string }
		read(t, file, &kind)
		resource := strings.TrimSuffix(kind.Plural+"."+kind.Group, ".")
		manifest := filepath.Join("testdata", "kinds", resource+".yaml")
		_, err := os.Stat(manifest)
		if err == nil || kind.Storage != "" || !slices.Contains(resources, resource) {
			continue
		}
		members := map[string]any{}
		read(t, filepath.Join("../../apiserver/objects/schema/testdata/objects", filepath.Base(file)), &members)
		for _, name := range []string{"apiVersion", "kind", "metadata", "status"} {
			delete(members, name)
		}
		name := "sample"
		if kind.Scope == "Cluster" {
			name = `"${NAME}-sample"`
		}
		text, err := yaml.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		head := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, labels: {sample: ${NAME}}}\n", kind.APIVersion, kind.Kind, name)
		if err := os.WriteFile(manifest, append([]byte(head), text...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// wantLine checks that a line of a table consists of these words.
func wantLine(t *testing.T, table string, words ...string) {
	t.Helper()
	for line := range strings.Lines(table) {
		if got := strings.Fields(line); len(got) >= len(words) && slices.Equal(got[:len(words)], words) {
			return
		}
	}
	t.Errorf("no line %q in:\n%s", words, table)
}
