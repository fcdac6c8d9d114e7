package main

import (
	"os/exec"
	"strings"
	"testing"
)

// room is a top-level folder and what its packages may import of the project. denied are packages of others that must not
// reach it, also indirectly through code of the room.
type room struct {
	path    string
	allowed []string
	denied  []string
}

// rooms states the architecture's direction of imports; the longest matching path decides.
var rooms = []room{
	{path: "proto"},
	{path: "raftstore", allowed: []string{"raftstore", "proto"}, denied: []string{"net/http"}},
	{path: "cluster", allowed: []string{"cluster", "raftstore", "proto"}},
	{path: "apiserver", allowed: []string{"apiserver", "raftstore", "proto"}, denied: []string{"github.com/hashicorp/"}},
	// Its tests run on a real store, which somebody has to bootstrap.
	{path: "apiserver/internal/testserver", allowed: []string{"apiserver", "raftstore"}},
	{path: "chaos", allowed: []string{"chaos"}},
	// The track record shows faults of the libraries below, so it reaches behind the API.
	{path: "chaos/record", allowed: []string{"chaos", "raftstore", "proto"}},
	{path: "cmd/quorate", allowed: []string{"cmd/quorate", "cluster", "apiserver", "raftstore", "proto"}},
	{path: "cmd/quorate-chaos", allowed: []string{"cmd/quorate-chaos", "chaos"}},
	{path: "bench"},
}

func TestRoomsImportOnlyWhatTheyMay(t *testing.T) {
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
		home, found := roomOf(pkg)
		if !found {
			t.Errorf("%s lies in no room: say in rooms what it may import", pkg)
			continue
		}
		for _, imported := range fields[1:] {
			if problem := home.refuses(imported); problem {
				t.Errorf("%s imports %s, which %s must not", pkg, imported, home.path)
			}
		}
	}
}

// roomOf returns the room with the longest path around the package.
func roomOf(pkg string) (home room, found bool) {
	for _, r := range rooms {
		if within(pkg, r.path) && len(r.path) >= len(home.path) {
			home, found = r, true
		}
	}
	return home, found
}

func within(pkg, path string) bool { return pkg == path || strings.HasPrefix(pkg, path+"/") }

func (r room) refuses(imported string) bool {
	for _, prefix := range r.denied {
		if strings.HasPrefix(imported, prefix) {
			return true
		}
	}
	pkg, inProject := strings.CutPrefix(imported, "quorate/")
	if !inProject {
		return false
	}
	for _, path := range append(r.allowed, r.path) {
		if within(pkg, path) {
			return false
		}
	}
	return true
}
