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

// TestOnlyRaftstoreHasTheLibrary: whoever holds a *raft.Raft can append entries that no state
// machine sees. The commit index then passes the applied index, and every linearizable read waits
// for the next write. So package raftstore alone holds one, and calls Barrier nowhere; others use
// the methods of raftstore.Store. Tests may do as they like.
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
				t.Errorf("%s uses %s of %s: add what you need to raftstore.Store", rel, use, raftLibrary)
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

// libraryUses returns what a file uses of the library that only raftstore may: the type Raft, its
// constructor, and a method Barrier, of whatever it is called on.
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
