package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module has a case of every outcome.
const module = `package m

import "testing"

func TestPasses(t *testing.T) { t.Log("not to be seen") }

func TestParent(t *testing.T) {
	t.Run("passes", func(t *testing.T) {})
	t.Run("skipped", func(t *testing.T) { t.Skip("no disks here") })
}

func TestSkipped(t *testing.T) { t.Skipf("no %s here", "network") }
`

const failing = `package m

import "testing"

func TestFails(t *testing.T) {
	t.Run("passes", func(t *testing.T) {})
	t.Run("fails", func(t *testing.T) { t.Error("it is wrong") })
}
`

const (
	panics  = "package m\n\nimport \"testing\"\n\nfunc TestPanics(t *testing.T) { panic(\"at the disco\") }\n"
	nothing = "package m\n\nimport \"testing\"\n\nfunc TestNothing(t *testing.T) { undefined() }\n"
	exits   = "package m\n\nimport (\"os\"; \"testing\")\n\nfunc TestMain(m *testing.M) { m.Run(); os.Exit(3) }\n"
)

// TestTally runs go test on small modules: the last line has the right counts, the reasons stand
// before it, and a run that failed in any way is one.
func TestTally(t *testing.T) {
	for name, c := range map[string]struct {
		files  []string
		failed bool
		last   string
		says   []string
		hides  string
	}{
		"all is well": {
			[]string{module}, false, "2 passed, 0 failed, 2 skipped",
			[]string{"ok  \tm", "skipped 1: m: no disks here\n", "skipped 1: m: no network here\n"}, "not to be seen",
		},
		"a case fails": {
			[]string{module, failing}, true, "3 passed, 1 failed, 2 skipped", []string{"it is wrong", "--- FAIL: TestFails/fails", "FAIL\tm"}, "not to be seen",
		},
		"a case panics":     {[]string{panics}, true, "0 passed, 1 failed, 0 skipped", []string{"at the disco"}, "PASS"},
		"it does not build": {[]string{nothing}, true, "0 passed, 1 failed, 0 skipped", []string{"undefined: undefined"}, "PASS"},
		"all pass and it exits 3": {
			[]string{module, exits}, true, "2 passed, 1 failed, 2 skipped",
			[]string{"=== RUN   TestPasses", "not to be seen", "m: its process failed", "FAIL\tm"}, "ok  \tm",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, counts := t.TempDir(), filepath.Join(t.TempDir(), "counts")
			write(t, filepath.Join(dir, "go.mod"), "module m\n")
			for i, text := range c.files {
				write(t, filepath.Join(dir, string(rune('a'+i))+"_test.go"), text)
			}
			var out strings.Builder
			err := run(counts, []string{"go", "-C", dir, "test", "./..."}, &out)
			if (err != nil) != c.failed {
				t.Errorf("the error is %v", err)
			}
			if err := tell(counts, &out); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if last := lines[len(lines)-1]; last != c.last {
				t.Errorf("the last line is %q, want %q:\n%s", last, c.last, out.String())
			}
			for _, want := range c.says {
				if !strings.Contains(out.String(), want) {
					t.Errorf("it does not say %q:\n%s", want, out.String())
				}
			}
			if strings.Contains(out.String(), c.hides) {
				t.Errorf("it says %q:\n%s", c.hides, out.String())
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTotalsOfSeveralRuns adds up.
func TestTotalsOfSeveralRuns(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		if err := keep(dir, counts{Passed: 3, Failed: 1, Skipped: 2, Reasons: map[string]int{"p: no disks": 2}}); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := tell(dir, &out); err != nil || out.String() != "skipped 4: p: no disks\n6 passed, 2 failed, 4 skipped\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// TestOutputOfPassedTestsIsBounded: the last lines stay, at most maxSaid bytes of them.
func TestOutputOfPassedTestsIsBounded(t *testing.T) {
	var s said
	line := strings.Repeat("x", maxSaid/8)
	for range 3 {
		s.add([]string{line, line, line, line})
	}
	s.add([]string{"last"})
	kept := strings.Join(s.lines, "")
	if len(kept) > maxSaid || len(kept) < maxSaid/2 || !strings.HasSuffix(kept, "last") {
		t.Errorf("%d bytes are kept of at most %d, which end with %q", len(kept), maxSaid, kept[max(0, len(kept)-4):])
	}
	s.add([]string{strings.Repeat("y", maxSaid+1)})
	if len(s.lines) != 0 {
		t.Errorf("a line beyond the bound leaves %d lines", len(s.lines))
	}
}
