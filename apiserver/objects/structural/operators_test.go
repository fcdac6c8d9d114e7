package structural

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// operators returns the schemas of well-known operators, by name.
func operators(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/crds/*.json.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	out := map[string]string{}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(file), ".json.gz")] = string(raw)
	}
	return out
}

// heldBy returns the bytes of heap that hold keeps per call.
func heldBy(n int, hold func() any) int {
	var before, after runtime.MemStats
	kept := make([]any, n)
	hold() // Libraries initialize themselves on first use.
	collect()
	runtime.ReadMemStats(&before)
	for i := range kept {
		kept[i] = hold()
	}
	collect()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return (int(after.HeapAlloc) - int(before.HeapAlloc)) / n
}

// collect frees what is unreachable, also what pools hold.
func collect() {
	for range 3 {
		runtime.GC()
	}
}

// A server with 1,000 definitions must not need gigabytes, so that a schema has a budget. The
// largest of well-known operators describes pods several times, in 440 kB.
func TestMemory(t *testing.T) {
	const budget, largeBudget, programBudget = 100 << 10, 150 << 10, 40 << 10
	for name, raw := range operators(t) {
		schema := heldBy(16, func() any { return mustCompile(t, raw) })
		rules := 0
		programs := heldBy(16, func() any {
			s := mustCompile(t, raw)
			rules = s.buildAll(t)
			return s
		})
		limit := budget
		if len(raw) > 200<<10 {
			limit = largeBudget
		}
		t.Logf("%-20s %4d kB of JSON, %d bytes, with the programs of %d rules %d", name, len(raw)/1000, schema, rules, programs)
		if schema > limit {
			t.Errorf("%s: %d bytes, more than %d", name, schema, limit)
		}
		if rules > 0 && (programs-schema)/rules > programBudget {
			t.Errorf("%s: %d bytes for each rule, more than %d", name, (programs-schema)/rules, programBudget)
		}
	}
}

// buildAll builds the programs of all rules and returns their number.
func (s *Schema) buildAll(t testing.TB) int {
	t.Helper()
	rules, seen := 0, map[*node]bool{}
	var visit func(n *node)
	visit = func(n *node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		if n.rules != nil {
			programs, err := n.rules.build(s.programs, n, n == s.root || n.embedded)
			if err != nil {
				t.Fatal(err)
			}
			rules += len(programs)
		}
		visit(n.items)
		visit(n.values)
		for _, p := range n.properties {
			visit(p.schema)
		}
	}
	visit(s.root)
	return rules
}
