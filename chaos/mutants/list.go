package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// area is one file of the list: faults of one part of the project.
type area struct {
	Area string `yaml:"area"`
	// Tests run for each mutant of the area, after those of its own.
	Tests   []suite   `yaml:"tests"`
	Mutants []*mutant `yaml:"mutants"`
}

// mutant is one fault: an edit of one file.
type mutant struct {
	Name   string  `yaml:"name"`
	File   string  `yaml:"file"`   // relative to the project's root
	Old    string  `yaml:"old"`    // occurs exactly once in File
	New    string  `yaml:"new"`    // replaces Old
	Breaks string  `yaml:"breaks"` // the guarantee
	Tests  []suite `yaml:"tests"`  // cheapest first

	area string
}

// suite is one run of go test.
type suite struct {
	Package string        `yaml:"package"` // such as ./raftstore/log; it may lie in a nested module
	Run     string        `yaml:"run"`     // go test's -run; empty runs all
	Race    bool          `yaml:"race"`
	Timeout time.Duration `yaml:"timeout"` // 0 for the default
}

func (s suite) String() string {
	if s.Run == "" {
		return s.Package
	}
	return s.Package + " -run " + s.Run
}

// load reads the list in a folder, in the order of the file names.
func load(dir string) ([]*mutant, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var all []*mutant
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		mutants, err := parse(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, mutants...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no mutants", dir)
	}
	return all, duplicates(all)
}

// parse reads one file of the list.
func parse(content []byte) ([]*mutant, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	var a area
	if err := decoder.Decode(&a); err != nil {
		return nil, err
	}
	if a.Area == "" {
		return nil, errors.New("area is missing")
	}
	for _, m := range a.Mutants {
		m.area = a.Area
		m.Old, m.New = strings.TrimSuffix(m.Old, "\n"), strings.TrimSuffix(m.New, "\n")
		m.Tests = append(slices.Clone(m.Tests), a.Tests...)
		if err := m.complete(); err != nil {
			return nil, fmt.Errorf("mutant %q: %w", m.Name, err)
		}
	}
	return a.Mutants, nil
}

func (m *mutant) complete() error {
	switch {
	case m.Name == "" || m.File == "" || m.Old == "" || m.Breaks == "":
		return errors.New("name, file, old and breaks are all needed")
	case strings.ContainsAny(m.Name, " ,|"):
		return errors.New("its name must not contain a blank, a comma or a bar")
	case m.Old == m.New:
		return errors.New("its edit changes nothing")
	case len(m.Tests) == 0:
		return errors.New("it has no tests")
	}
	for _, s := range m.Tests {
		if !strings.HasPrefix(s.Package, "./") {
			return fmt.Errorf("package %q doesn't begin with ./", s.Package)
		}
	}
	return nil
}

func duplicates(mutants []*mutant) error {
	seen := map[string]bool{}
	for _, m := range mutants {
		if seen[m.Name] {
			return fmt.Errorf("two mutants have the name %q", m.Name)
		}
		seen[m.Name] = true
	}
	return nil
}

// edit returns the mutant's file below root with the fault in it. It is an error when the text to
// replace isn't found exactly once, or when the outcome isn't a Go file.
func (m *mutant) edit(root string) (edited, original []byte, err error) {
	original, err = os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return nil, nil, err
	}
	if n := bytes.Count(original, []byte(m.Old)); n != 1 {
		return nil, nil, fmt.Errorf("%s has the text to replace %d times, not once", m.File, n)
	}
	edited = bytes.Replace(original, []byte(m.Old), []byte(m.New), 1)
	if _, err := parser.ParseFile(token.NewFileSet(), m.File, edited, parser.SkipObjectResolution); err != nil {
		return nil, nil, fmt.Errorf("edited: %w", err)
	}
	return edited, original, nil
}

// check reports what doesn't fit the tree below root: edits, and packages to test.
func check(root string, mutants []*mutant) (problems []error) {
	for _, m := range mutants {
		if _, _, err := m.edit(root); err != nil {
			problems = append(problems, fmt.Errorf("mutant %s: %w", m.Name, err))
		}
		for _, s := range m.Tests {
			tests, err := filepath.Glob(filepath.Join(root, s.Package, "*_test.go"))
			if err == nil && len(tests) == 0 {
				err = fs.ErrNotExist
			}
			if err != nil {
				problems = append(problems, fmt.Errorf("mutant %s: tests of %s: %w", m.Name, s.Package, err))
			}
		}
	}
	return problems
}

// choose returns the mutants whose name or area is in a comma-separated list; "" chooses all.
func choose(mutants []*mutant, names string) ([]*mutant, error) {
	if names == "" {
		return mutants, nil
	}
	var chosen []*mutant
	for name := range strings.SplitSeq(names, ",") {
		before := len(chosen)
		for _, m := range mutants {
			if m.Name == name || m.area == name {
				chosen = append(chosen, m)
			}
		}
		if len(chosen) == before {
			return nil, fmt.Errorf("no mutant or area is called %q", name)
		}
	}
	return chosen, nil
}
