package schema_test

import (
	"os"
	"path/filepath"
	"testing"

	"quorate/apiserver/objects/schema"
)

// BenchmarkCreateWithHooks measures a create with the hooks of package validation, for the full
// objects of the golden files.
func BenchmarkCreateWithHooks(b *testing.B) {
	cat := catalog(b)
	for name, k := range map[string]*schema.Kind{"configmap": cat.Kind("/api/v1", "configmaps"), "pod": cat.Kind("/api/v1", "pods")} {
		body, err := os.ReadFile(filepath.Join("testdata", "objects", name+".yaml"))
		if err != nil {
			b.Fatal(err)
		}
		if body, err = schema.YAMLToJSON(body, maxYAML); err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				createQuietly(b, k, body)
			}
		})
	}
}
