package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the project's, as seen from this package.
const root = "../.."

func TestEachMutantFitsTodaysTree(t *testing.T) {
	mutants, err := load("list")
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range check(root, mutants) {
		t.Error(problem)
	}
	if len(mutants) < 60 {
		t.Errorf("%d mutants, want at least 60", len(mutants))
	}
}

func TestListIsRefused(t *testing.T) {
	const rest = "file: a.go\n    old: a\n    new: b\n    breaks: x\n    tests: [{package: ./a}]\n"
	for name, tc := range map[string]struct{ text, want string }{
		"unknown field":   {"area: a\nmutants:\n  - name: m\n    fille: a.go\n", "fille"},
		"no area":         {"mutants:\n  - name: m\n    " + rest, "area"},
		"no name":         {"area: a\nmutants:\n  - " + rest, "name"},
		"blank in a name": {"area: a\nmutants:\n  - name: m n\n    " + rest, "blank"},
		"no change": {"area: a\nmutants:\n  - name: m\n    " + strings.Replace(rest, "new: b", "new: a", 1),
			"changes nothing"},
		"no tests": {"area: a\nmutants:\n  - name: m\n    " + rest[:strings.Index(rest, "tests")], "no tests"},
		"no local package": {"area: a\nmutants:\n  - name: m\n    " + strings.Replace(rest, "./a", "a", 1),
			"begin with ./"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse([]byte(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("parse says %v, want something about %q", err, tc.want)
			}
		})
	}
}

func TestSameNameIsRefused(t *testing.T) {
	if err := duplicates([]*mutant{{Name: "a"}, {Name: "b"}, {Name: "a"}}); err == nil {
		t.Error("two mutants of one name are taken")
	}
}

func TestTestsOfTheAreaComeLast(t *testing.T) {
	mutants, err := parse([]byte("area: a\ntests: [{package: ./slow}]\nmutants:\n  - name: m\n    file: a.go\n    old: |\n      a\n" +
		"    new: b\n    breaks: x\n    tests: [{package: ./quick, run: T, timeout: 5s}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	m := mutants[0]
	if m.Old != "a" || len(m.Tests) != 2 || m.Tests[0].String() != "./quick -run T" || m.Tests[1].Package != "./slow" {
		t.Errorf("parsed as %+v", m)
	}
}

func TestEdit(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "a.go"), "package a\n\nvar once, twice = 1, 2\n\nvar more = twice\n")
	for name, tc := range map[string]struct{ before, after, want string }{
		"once":    {"once, ", "thrice, ", ""},
		"twice":   {"twice", "once", "2 times"},
		"nowhere": {"never", "once", "0 times"},
		"no Go":   {"var more = twice", "var more = {", "edited"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &mutant{File: "a.go", Old: tc.before, New: tc.after}
			edited, _, err := m.edit(dir)
			if tc.want == "" && (err != nil || !strings.Contains(string(edited), tc.after)) {
				t.Errorf("edit gives %q, %v", edited, err)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("edit says %v, want something about %q", err, tc.want)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	all := []*mutant{{Name: "a", area: "x"}, {Name: "b", area: "y"}, {Name: "c", area: "y"}}
	for names, want := range map[string]string{"": "abc", "b": "b", "y,a": "bca"} {
		chosen, err := choose(all, names)
		var got strings.Builder
		for _, m := range chosen {
			got.WriteString(m.Name)
		}
		if err != nil || got.String() != want {
			t.Errorf("%q chooses %s (%v), want %s", names, got.String(), err, want)
		}
	}
	if _, err := choose(all, "a,z"); err == nil {
		t.Error("an unknown name is passed over")
	}
}

func TestMirror(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(from, "a/b.txt"), "new")
	writeFile(t, filepath.Join(from, "same.txt"), "same")
	writeFile(t, filepath.Join(to, "same.txt"), "same")
	writeFile(t, filepath.Join(to, "a/b.txt"), "old")
	writeFile(t, filepath.Join(to, "a/gone.txt"), "gone")
	if _, err := mirror(from, to, []string{"a/b.txt", "same.txt", "deleted.txt"}); err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, pattern := range []string{"*.txt", "a/*.txt"} {
		found, err := filepath.Glob(filepath.Join(to, pattern))
		if err != nil {
			t.Fatal(err)
		}
		have = append(have, found...)
	}
	want := []string{filepath.Join(to, "same.txt"), filepath.Join(to, "a/b.txt")}
	content, err := os.ReadFile(filepath.Join(to, "a/b.txt"))
	if !slices.Equal(have, want) || string(content) != "new" || err != nil {
		t.Errorf("the copy has %q, %q (%v), want %q", have, content, err, want)
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
