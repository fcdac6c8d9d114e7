package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const raftLibrary = "github.com/hashicorp/raft"

// TestOnlyRaftstoreHasTheLibrary checks that only package raftstore uses a *raft.Raft, and that no
// code calls Barrier: it appends an entry that no state machine receives, so that the commit index
// exceeds the applied index and every linearizable read waits for the next write. Other packages
// use the methods of raftstore.Store. Tests are exempt.
func TestOnlyRaftstoreHasTheLibrary(t *testing.T) {
	root := filepath.Join("..", "..")
	checked := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		source, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		checked++
		for _, use := range libraryUses(source) {
			if use == "Barrier" || !within(filepath.ToSlash(filepath.Dir(rel)), "raftstore") {
				t.Errorf("%s uses %s of %s: add a method to raftstore.Store instead", rel, use, raftLibrary)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 100 {
		t.Errorf("only %d files checked: the walk is wrong", checked)
	}
}

// libraryUses returns the restricted identifiers of the library that a file uses: the type Raft,
// its constructor, and calls of a method named Barrier.
func libraryUses(file *ast.File) (uses []string) {
	name := ""
	for _, spec := range file.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err != nil || path != raftLibrary {
			continue
		}
		name = "raft"
		if spec.Name != nil {
			name = spec.Name.Name
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, _ := selector.X.(*ast.Ident)
		inLibrary := name != "" && of != nil && of.Name == name
		switch {
		case selector.Sel.Name == "Barrier":
			uses = append(uses, "Barrier")
		case inLibrary && (selector.Sel.Name == "Raft" || selector.Sel.Name == "NewRaft"):
			uses = append(uses, selector.Sel.Name)
		}
		return true
	})
	return uses
}
