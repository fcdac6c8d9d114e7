package main

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A text search for the name of a metric must find its definition. Each name in the shipped rules
// is a literal in the code, and no name is concatenated from parts.
func TestNamesOfMetricsAreLiterals(t *testing.T) {
	t.Parallel()
	defined := map[string]bool{}
	literal := regexp.MustCompile(`"(quorate_[a-z0-9_]+)"( ?\+)?`)
	eachFile(t, os.DirFS("../.."), ".go", func(path, text string) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		for _, found := range literal.FindAllStringSubmatch(text, -1) {
			defined[found[1]] = true
			if found[2] != "" || strings.HasSuffix(found[1], "_") {
				t.Errorf("%s concatenates the name of a metric from %s", path, found[1])
			}
		}
	})
	series := regexp.MustCompile("_(bucket|count|sum)$") // of a histogram
	used := 0
	eachFile(t, os.DirFS("../../deploy"), "", func(path, text string) {
		for _, name := range regexp.MustCompile(`\bquorate_[a-z0-9_]+`).FindAllString(text, -1) {
			used++
			if !defined[name] && !defined[series.ReplaceAllString(name, "")] {
				t.Errorf("deploy/%s uses %s, which no code defines", path, name)
			}
		}
	})
	if used < 7 {
		t.Errorf("the files of deploy use %d names", used)
	}
}

// TestMetricsAreRegisteredAtConstruction checks that newMetrics registers all metrics of a package
// with MustRegister: two metrics of one name are a programming error that no caller can handle.
func TestMetricsAreRegisteredAtConstruction(t *testing.T) {
	t.Parallel()
	withError := regexp.MustCompile(`(?i)\breg[a-z]*\.Register\(|func new[a-z]*Metrics\(.*error.*`)
	constructors := 0
	eachFile(t, os.DirFS("../.."), ".go", func(path, text string) {
		if strings.HasSuffix(path, "_test.go") || !strings.Contains(text, "client_golang/prometheus") {
			return
		}
		constructors += strings.Count(text, "func newMetrics(reg")
		for _, found := range withError.FindAllString(text, -1) {
			t.Errorf("%s has %q: let newMetrics call reg.MustRegister", path, found)
		}
	})
	if constructors < 10 {
		t.Errorf("%d packages have a newMetrics", constructors)
	}
}

// eachFile calls fn with each file whose name has a suffix.
func eachFile(t *testing.T, files fs.FS, suffix string, fn func(path, text string)) {
	t.Helper()
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, suffix) {
			return err
		}
		text, err := fs.ReadFile(files, path)
		if err == nil {
			fn(path, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
