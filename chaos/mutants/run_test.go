package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// project makes a small project: packages with tests, and a nested module with a test of its own.
func project(t *testing.T) *tree {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module example\n\ngo 1.24\n",
		"a/a.go": "package a\n\nfunc Double(n int) int { return n + n }\n\nfunc Half(n int) int { return n / 2 }\n\nfunc Wait() {}\n",
		"a/a_test.go": `package a

import "testing"

func TestDouble(t *testing.T) {
	t.Run("of three", func(t *testing.T) {
		if Double(3) != 6 {
			t.Error("is wrong")
		}
	})
}

func TestWait(t *testing.T) { Wait() }
`,
		"b/b_test.go": `package b

import (
	"testing"

	"example/a"
)

func TestHalf(t *testing.T) {
	if a.Half(5) != 2 {
		t.Error("is wrong")
	}
}
`,
		"broken/broken_test.go": "package broken\n\nimport \"testing\"\n\nfunc TestAlways(t *testing.T) { t.Error(\"fails\") }\n",
		"c/go.mod":              "module nested\n\ngo 1.24\n",
		"c/d/d_test.go": `package d

import (
	"bytes"
	"os"
	"testing"
)

func TestSource(t *testing.T) {
	if text, err := os.ReadFile("../../a/a.go"); err != nil || !bytes.Contains(text, []byte("n / 2")) {
		t.Error(err)
	}
}
`,
	} {
		writeFile(t, filepath.Join(dir, name), content)
	}
	return &tree{root: dir}
}

func TestRunner(t *testing.T) {
	scratch := project(t)
	half := func(new string, tests ...suite) *mutant {
		return &mutant{File: "a/a.go", Old: "n / 2", New: new, Tests: tests}
	}
	a, b := suite{Package: "./a"}, suite{Package: "./b"}
	for name, tc := range map[string]struct {
		mutant *mutant
		suites int
		want   result
	}{
		"by a subtest": {&mutant{File: "a/a.go", Old: "n + n", New: "n * n", Tests: []suite{a, b}}, 0,
			result{Verdict: caught, Package: "./a", Test: "TestDouble/of_three"}},
		"by a neighbour":         {half("(n + 1) / 2", a, b), 0, result{Verdict: caught, Package: "./b", Test: "TestHalf"}},
		"by a nested module":     {half("n/ 2", a, suite{Package: "./c/d"}), 0, result{Verdict: caught, Package: "./c/d", Test: "TestSource"}},
		"by nobody":              {half("n >> 1", a, b), 0, result{Verdict: survived}},
		"not by the first suite": {half("(n + 1) / 2", a, b), 1, result{Verdict: open}},
		"by a panic":             {half("n / (n - 5)", b), 0, result{Verdict: caught, Package: "./b", Test: "TestHalf"}},
		"by a hang": {&mutant{File: "a/a.go", Old: "Wait() {}", New: "Wait() { select {} }",
			Tests: []suite{{Package: "./a", Run: "Wait", Timeout: time.Second}}}, 0,
			result{Verdict: hung, Package: "./a", Test: "TestWait"}},
		"by what fails anyway": {half("n >> 1", suite{Package: "./broken"}), 0,
			result{Verdict: unsure, Package: "./broken", Test: "TestAlways"}},
		"no such tests": {half("n >> 1", suite{Package: "./a", Run: "TestNothing"}), 0, result{Verdict: invalid}},
		"compiles not":  {half("m / 2", a), 0, result{Verdict: invalid}},
		"fits not":      {&mutant{File: "a/a.go", Old: "n", New: "m", Tests: []suite{a}}, 0, result{Verdict: invalid}},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := os.ReadFile(filepath.Join(scratch.root, tc.mutant.File))
			if err != nil {
				t.Fatal(err)
			}
			r := &runner{suites: tc.suites}
			got, err := r.one(t.Context(), scratch, tc.mutant)
			if err != nil || got.Verdict != tc.want.Verdict || got.Package != tc.want.Package || got.Test != tc.want.Test {
				t.Errorf("%+v (%v), want %+v", got, err, tc.want)
			}
			if after, err := os.ReadFile(filepath.Join(scratch.root, tc.mutant.File)); err != nil || string(after) != string(before) {
				t.Errorf("the tree is not what it was: %s (%v)", after, err)
			}
		})
	}
}

func TestEachResultIsKept(t *testing.T) {
	scratch := project(t)
	m := func(name, new string) *mutant {
		return &mutant{Name: name, File: "a/a.go", Old: "n / 2", New: new, Tests: []suite{{Package: "./b"}}}
	}
	kept := map[string]verdict{}
	var out strings.Builder
	r := &runner{trees: []*tree{scratch}, out: &out, record: func(res result) error {
		kept[res.Name] = res.Verdict
		return nil
	}}
	missed, err := r.run(t.Context(), []*mutant{m("one", "n >> 1"), m("two", "n / 3")})
	if err != nil || len(missed) != 1 || missed[0].Name != "one" || kept["one"] != survived || kept["two"] != caught {
		t.Errorf("missed %+v, kept %v (%v)", missed, kept, err)
	}
	full := errors.New("full")
	r.record = func(result) error { return full }
	if _, err := r.run(t.Context(), []*mutant{m("two", "n / 3")}); !errors.Is(err, full) {
		t.Errorf("a result that can't be kept gives %v", err)
	}
}

func TestDigestIsOfEditAndTests(t *testing.T) {
	scratch := project(t)
	m := mutant{File: "a/a.go", Old: "n / 2", New: "n", Tests: []suite{{Package: "./b"}}}
	digest := m.digest(scratch.root)
	other := m
	other.New = "2 * n"
	more := m
	more.Tests = []suite{{Package: "./b", Run: "x"}}
	if again := m.digest(scratch.root); again != digest || other.digest(scratch.root) == digest || more.digest(scratch.root) == digest {
		t.Error("digests of different mutants are equal, or of one not")
	}
}
