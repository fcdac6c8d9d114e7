package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEachMutantIsCaught(t *testing.T) {
	mutants, err := load("list")
	if err != nil {
		t.Fatal(err)
	}
	results, err := readResults("results.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		if v := results[m.Name].Verdict; v != caught && v != hung {
			t.Errorf("%s is not known to be caught (%q): run make mutants MUTANTS=%s", m.Name, v, m.Name)
		}
	}
}

func TestTableIsThatOfTheResults(t *testing.T) {
	mutants, err := load("list")
	if err != nil {
		t.Fatal(err)
	}
	results, err := readResults("results.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := insertTable(string(have), table(mutants, results))
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Error("README.md is not up to date: go run ./chaos/mutants -table")
	}
}

func TestResultsOfAResumedRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.jsonl")
	if results, err := readResults(file); err != nil || len(results) != 0 {
		t.Fatalf("results of nothing: %v, %v", results, err)
	}
	for _, r := range []result{
		{Name: "a", Verdict: survived}, {Name: "gone", Verdict: caught}, {Name: "b", Verdict: caught, Seconds: 1.5}, {Name: "a", Verdict: hung},
	} {
		if err := appendResult(file, r); err != nil {
			t.Fatal(err)
		}
	}
	results, err := readResults(file)
	if err != nil || results["a"].Verdict != hung || results["b"].Seconds != 1.5 {
		t.Fatalf("results are %v (%v)", results, err)
	}
	if err := compact(file, []*mutant{{Name: "b"}, {Name: "a"}, {Name: "new"}}, results); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil || strings.Count(string(content), "\n") != 2 || strings.Index(string(content), `"b"`) > strings.Index(string(content), `"a"`) {
		t.Errorf("compacted to %s (%v)", content, err)
	}
}

func TestOnlyWhatIsCaughtAndUnchangedIsLeftOut(t *testing.T) {
	t.Chdir(root)
	file := filepath.Join(t.TempDir(), "results.jsonl")
	m := func(name string) *mutant {
		return &mutant{Name: name, File: "chaos/mutants/doc.go", Old: "package main", New: "package other", Tests: []suite{{Package: "./a"}}}
	}
	all := []*mutant{m("caught"), m("hung"), m("survived"), m("changed"), m("new")}
	digest := all[0].digest(".")
	for _, r := range []result{
		{Name: "caught", Verdict: caught, Digest: digest}, {Name: "hung", Verdict: hung, Digest: digest},
		{Name: "survived", Verdict: survived, Digest: digest}, {Name: "changed", Verdict: caught, Digest: "of before"},
	} {
		if err := appendResult(file, r); err != nil {
			t.Fatal(err)
		}
	}
	left, err := undone(all, file)
	if err != nil || len(left) != 3 || left[0].Name != "survived" || left[1].Name != "changed" || left[2].Name != "new" {
		t.Errorf("left are %v (%v)", left, err)
	}
}

func TestTable(t *testing.T) {
	mutants := []*mutant{
		{Name: "one", File: "a.go", Breaks: "this | that"}, {Name: "two", File: "b.go", Breaks: "x"}, {Name: "three", File: "c.go", Breaks: "y"},
		{Name: "four", File: "d.go", Breaks: "z"},
	}
	got := table(mutants, map[string]result{
		"one":  {Verdict: caught, Package: "./a", Test: "TestA/b|c", Seconds: 2.6, Commit: "c1", Date: "2026-11-22"},
		"two":  {Verdict: hung, Package: "./a", Test: "TestB", Seconds: 60, Commit: "c2", Date: "2026-11-23"},
		"four": {Verdict: survived, Seconds: 9, Commit: "c2", Date: "2026-11-23"},
	})
	for _, want := range []string{
		"4 faults: 2 caught, 1 of them by a hang; 1 survived, 0 unsure or in error, 1 not run. Run on 2026-11-22, 2026-11-23.",
		"| one | `a.go` | this \\| that | `./a` TestA/b\\|c | 3 | c1 |\n",
		"| two | `b.go` | x | `./a` TestB, by a hang (timeout) | 60 | c2 |\n",
		"| three | `c.go` | y | not run |  |  |\n",
		"| four | `d.go` | z | survived | 9 | c2 |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	document, err := insertTable("before\n"+tableStart+"old\n"+tableEnd+"after\n", got)
	if err != nil || strings.Contains(document, "old") || !strings.HasPrefix(document, "before\n"+tableStart+"4 faults") ||
		!strings.HasSuffix(document, "\n"+tableEnd+"after\n") {
		t.Errorf("inserted as %s (%v)", document, err)
	}
	if _, err := insertTable("no marks", got); err == nil {
		t.Error("a document without marks is taken")
	}
}
