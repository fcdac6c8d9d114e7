package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Both tables of sizes, and that of shapes, have a row for each number.
func TestTables(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts nodes")
	}
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "quorate")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "quorate/cmd/quorate")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as whatever else builds it, so that little is compiled
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, tc := range map[string]struct {
		options options
		want    []string
	}{
		"sizes":  {options{objects: "300,100"}, []string{"\n| 100 |", "\n| 300 |"}},
		"shapes": {options{shapes: true, part: 0.001}, []string{"\n| namespaces | 20 |", "\n| kinds | 16 |", "\n| objects of one namespace | 1000 |", "\n| objects of 1 MB | 1 |"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := tc.options
			o.binary, o.tempDir, o.operations, o.writes, o.value = binary, t.TempDir(), 100, 100, 64
			o.phase, o.settle, o.repeat = 300*time.Millisecond, time.Millisecond, time.Millisecond
			out, err := os.Create(filepath.Join(t.TempDir(), "out"))
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			if err := run(&o, out); err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(out.Name())
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tc.want {
				if !strings.Contains(string(content), want) {
					t.Errorf("no %q in:\n%s", want, content)
				}
			}
		})
	}
}

func TestContinueOf(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		`{"metadata":{"resourceVersion":"7","continue":"a\u0062c"},"items":[]}`:          "abc",
		`{"metadata":{"resourceVersion":"7"},"items":[{"data":{"\"continue\":":"no"}}]}`: "",
	} {
		if got, err := continueOf([]byte(page)); err != nil || got != want {
			t.Errorf("%s: got %q, %v", page, got, err)
		}
	}
	if _, err := continueOf([]byte(`{"kind":"Status"}`)); err == nil {
		t.Error("a page without items is no error")
	}
}
