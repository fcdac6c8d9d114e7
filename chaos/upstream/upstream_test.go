package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestExpectedFile(t *testing.T) {
	all, err := parseExpected(expectedFile)
	if err != nil {
		t.Fatal(err)
	}
	for key := range all {
		if key[0] != e2eSuite && key[0] != kubectlSuite {
			t.Errorf("%q is no suite", key[0])
		}
	}
	for _, wrong := range []string{
		"e2e\tname\tfails", "e2e\tname\tbreaks\treason", "e2e\tname\tfails\t", "e2e\ta\tfails\tb\ne2e\ta\tnot run\tb",
	} {
		if _, err := parseExpected(wrong); err == nil || !strings.HasPrefix(err.Error(), "expected.tsv:") {
			t.Errorf("%q: %v, want the line that is wrong", wrong, err)
		}
	}
}

func TestTable(t *testing.T) {
	tests := []test{
		{Suite: e2eSuite, Area: "watch", Name: "[sig-api-machinery] Watch a", Passed: true},
		{Suite: e2eSuite, Area: "watch", Name: "b", Message: "broken | so"},
		{Suite: e2eSuite, Area: "watch", Name: "c", Message: "broken", expected: expectation{fails, "no nodes"}},
		{Suite: e2eSuite, Area: "watch", Name: "f", Passed: true, expected: expectation{atTimes, "a race"}},
		{Suite: e2eSuite, Area: "watch", Name: "g", expected: expectation{atTimes, "a race"}},
		{Suite: e2eSuite, Area: "webhook", Name: "d", expected: expectation{notRun, "no pods"}},
		{Suite: e2eSuite, Area: "webhook", Name: "e", Passed: true, expected: expectation{fails, "no webhooks"}},
		{Suite: kubectlSuite, Area: "test/cmd", Name: "run_a", Held: 3, Assertions: 4, Message: "core.sh:1"},
		{Suite: kubectlSuite, Area: "test/cmd", Name: "run_b", expected: expectation{notRun, "no quotas"}},
	}
	text := table(tests, "v1.2.3", "abc", time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	for _, want := range []string{
		"Kubernetes v1.2.3; at abc, 2026-01-02.",
		"Of 7 tests 3 pass, 2 are known to fail, and 1 are not run. **1 fail.**",
		"| watch | 5 | 2 | 3 | 0 |\n| webhook | 2 | 1 | 0 | 1 |\n",
		`| b | FAILS | broken \| so |`,
		"| c | known to fail | no nodes |",
		"| d | not run | no pods |",
		"| e | passes, though listed | no webhooks |",
		"Of 4 assertions in the functions that ran, 3 hold.",
		"| run_a | 3 of 4 | FAILS | core.sh:1 | 0 |",
		"| run_b |  | not run | no quotas |  |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "Watch a") {
		t.Errorf("a test that passes is named:\n%s", text)
	}
	err := report(t.Context(), filepath.Join(t.TempDir(), "out.md"), "v1.2.3", tests)
	if err == nil || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("%v, want the two that fail and the one that passes", err)
	}
	if err := report(t.Context(), filepath.Join(t.TempDir(), "out.md"), "v1.2.3", tests[:1]); err != nil {
		t.Error(err)
	}
}

func TestResultsAreRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	if all, err := readResults(path); err != nil || all != nil {
		t.Errorf("%v, %v for a file that no test wrote", all, err)
	}
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"file":"watch.go","name":"a","state":"passed","seconds":1.5}` + "\n" + `{"name":"b","state":"failed","message":"m"}` + "\n")
	all, err := readResults(path)
	if err != nil || len(all) != 2 || all[0] != (e2eResult{"watch.go", "a", "passed", 1.5, ""}) || all[1].Message != "m" {
		t.Errorf("%+v, %v", all, err)
	}
	write(`{"file":`)
	if _, err := readResults(path); err == nil {
		t.Error("half a line is no result")
	}
}

func TestCountsAreRead(t *testing.T) {
	tests := []test{{Name: "run_a"}, {Name: "run_b"}, {Name: "run_c"}, {Name: "run_d", expected: expectation{notRun, "none"}}}
	if err := readCounts(tests, "run_a\t3\t3\t0\t7\t\nrun_b\t1\t2\t1\t9\tcore.sh:4\n"); err != nil {
		t.Fatal(err)
	}
	a, b, c := tests[0], tests[1], tests[2]
	if !a.Passed || a.Held != 3 || a.Assertions != 3 || a.Seconds != 7 {
		t.Errorf("%+v", a)
	}
	if b.Passed || b.Held != 1 || b.Message != "core.sh:4" {
		t.Errorf("%+v", b)
	}
	if c.Passed || c.Message == "" {
		t.Errorf("%+v, want one that did not run", c)
	}
	for _, wrong := range []string{"run_z\t1\t1\t0\t1\t\n", "run_a\t1\n", "run_a\t1\tx\t0\t1\t\n"} {
		if err := readCounts(tests, wrong); err == nil {
			t.Errorf("%q is no result", wrong)
		}
	}
}
