package main

import (
	"os/exec"
	"strings"
	"testing"
)

// component is a folder with the folders of the project that its packages may import.
// Imports from other modules that begin with one of denied are not allowed.
type component struct {
	path    string
	allowed []string
	denied  []string
}

// components states the direction of imports; of several paths around a package the longest
// decides.
var components = []component{
	{path: "proto"},
	// How far an operation is, for whoever sits at a terminal.
	{path: "progress"},
	{path: "raftstore", allowed: []string{"raftstore", "proto", "progress"}, denied: []string{"net/http"}},
	{path: "cluster", allowed: []string{"cluster", "raftstore", "proto"}},
	{path: "apiserver", allowed: []string{"apiserver", "raftstore", "proto"}, denied: []string{"github.com/hashicorp/"}},
	// Its tests run on a real store, which they must bootstrap.
	{path: "apiserver/internal/testserver", allowed: []string{"apiserver", "raftstore"}},
	{path: "chaos", allowed: []string{"chaos"}},
	// The track record demonstrates faults of the libraries, so it uses packages below the API.
	{path: "chaos/record", allowed: []string{"chaos", "raftstore", "proto"}},
	// The simulation judges these packages from within, on models of what they stand on.
	{path: "chaos/simulation", allowed: []string{"cluster", "raftstore", "proto"}},
	{path: "cmd/quorate", allowed: []string{"cmd/quorate", "cluster", "apiserver", "raftstore", "proto", "progress"}},
	{path: "cmd/quorate-chaos", allowed: []string{"cmd/quorate-chaos", "chaos", "progress"}},
	{path: "bench", allowed: []string{"chaos/plot", "progress"}},
	// Tests of scripts and documents.
	{path: "deploy"},
	{path: "docs"},
}

func TestComponentsImportOnlyAllowedPackages(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "quorate/...")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg, inProject := strings.CutPrefix(fields[0], "quorate/")
		if !inProject {
			t.Fatalf("unexpected package %s", fields[0])
		}
		home, found := componentOf(pkg)
		if !found {
			t.Errorf("%s belongs to no component: add its folder to components", pkg)
			continue
		}
		for _, imported := range fields[1:] {
			if problem := home.refuses(imported); problem {
				t.Errorf("%s imports %s, which %s must not", pkg, imported, home.path)
			}
		}
	}
}

// componentOf returns the component with the longest path around the package.
func componentOf(pkg string) (home component, found bool) {
	for _, c := range components {
		if within(pkg, c.path) && len(c.path) >= len(home.path) {
			home, found = c, true
		}
	}
	return home, found
}

func within(pkg, path string) bool { return pkg == path || strings.HasPrefix(pkg, path+"/") }

func (c component) refuses(imported string) bool {
	for _, prefix := range c.denied {
		if strings.HasPrefix(imported, prefix) {
			return true
		}
	}
	pkg, inProject := strings.CutPrefix(imported, "quorate/")
	if !inProject {
		return false
	}
	for _, path := range append(c.allowed, c.path) {
		if within(pkg, path) {
			return false
		}
	}
	return true
}
