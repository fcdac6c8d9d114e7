package failpoint

import (
	"context"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRewriteMakesPointsOfComments(t *testing.T) {
	source := "package p\n\nfunc f(n int) {\n\t// gofail: var before struct{}\n\tn++\n\t// gofail: var breakIt struct{}\n\t// n = 0\n\n\t_ = n\n}\n"
	rewritten, binding, err := rewrite("p.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range [][]byte{rewritten, binding} {
		if _, err := format.Source(code); err != nil {
			t.Errorf("%v in\n%s", err, code)
		}
	}
	for _, want := range []string{"__fp_before.Acquire()", "__fp_breakIt.Acquire()", "\n\t\t n = 0"} {
		if !strings.Contains(string(rewritten), want) {
			t.Errorf("no %q in\n%s", want, rewritten)
		}
	}
	for _, want := range []string{"package p\n", `trap.New("before")`, `trap.New("breakIt")`} {
		if !strings.Contains(string(binding), want) {
			t.Errorf("no %q in\n%s", want, binding)
		}
	}
	if rewritten, _, err := rewrite("p.go", []byte("package p\n")); rewritten != nil || err != nil {
		t.Errorf("a file without points becomes %q, %v", rewritten, err)
	}
}

func TestMovingTheClockIsRefusedWhereTheStandardLibraryReadsItOtherwise(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "src", "time"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "src", "time", "time.go"), []byte("package time\n\nfunc Now() Time { return now() }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := builder{work: t.TempDir(), replace: map[string]string{}}
	if err := b.clock(root); err == nil {
		t.Error("no error")
	}
}

func TestWhatShipsHasNoFailpoint(t *testing.T) {
	for _, command := range []string{command, "quorate/cmd/quorate-chaos"} {
		packages, err := goTool(context.WithoutCancel(t.Context()), "", "list", "-deps", command)
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.Lines(packages) {
			if strings.Contains(name, "gofail/runtime") || strings.Contains(name, "chaos/failpoint/trap") {
				t.Errorf("%s contains %s", command, name)
			}
			if command == "quorate/cmd/quorate" && strings.Contains(name, "gofail") {
				t.Errorf("%s contains %s", command, name)
			}
		}
	}
}

func TestEachPointIsInTheTableAndInTheSources(t *testing.T) {
	files, err := sources(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			if _, comment, ok := strings.Cut(line, marker); ok {
				found[strings.Fields(comment)[1]]++
			}
		}
	}
	for _, point := range Points() {
		if found[point.Name] != 1 {
			t.Errorf("%s is %d times in the sources, want 1", point.Name, found[point.Name])
		}
		if strings.HasPrefix(point.Name, "break") != (point.Stage == Breaking) {
			t.Errorf("%s is of stage %s: names that begin with break are for rules that are broken", point.Name, point.Stage)
		}
		delete(found, point.Name)
	}
	for name := range found {
		t.Errorf("%s is in the sources, and not in the table", name)
	}
}
