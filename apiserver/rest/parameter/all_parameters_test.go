package parameter_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
	"quorate/apiserver/rest/parameter"
)

func TestTable(t *testing.T) {
	t.Parallel()
	before := ""
	for _, d := range parameter.All() {
		switch {
		case d.Name <= before:
			t.Errorf("%s stands after %s", d.Name, before)
		case d.Description == "" || d.Read == 0:
			t.Errorf("%s: every parameter is described and read by some verb", d.Name)
		case d.Values != nil && d.Type != parameter.Text:
			t.Errorf("%s: only texts have values", d.Name)
		case d.PerKind && d.Documented == 0:
			t.Errorf("%s is of some kinds only, and not documented", d.Name)
		}
		for _, value := range d.Values {
			if !slices.Contains(d.Refusal(), value) {
				t.Errorf("%s: a refusal does not list %s", d.Name, value)
			}
		}
		before = d.Name
	}
}

// TestKinds: kind files name declared parameters only.
func TestKinds(t *testing.T) {
	t.Parallel()
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range catalog.Kinds() {
		for _, name := range k.Spec.Operations.ReadParams {
			if d := parameter.Find(name); d == nil || d.Read&parameter.Get == 0 {
				t.Errorf("%s: operations.readParams: there is no parameter %s of reads", k.Kind, name)
			}
		}
	}
}

// TestNamesInCode: each parameter that the code reads by its name has a row, and each row is read.
// That verbs read only what is declared for them is what TestParameters of package apiserver shows.
func TestNamesInCode(t *testing.T) {
	t.Parallel()
	read := map[string]bool{}
	for name, at := range namesRead(t) {
		read[name] = true
		if parameter.Find(name) == nil {
			t.Errorf("%s reads the parameter %s, which has no row", at, name)
		}
	}
	for _, d := range parameter.All() {
		if !read[d.Name] {
			t.Errorf("the parameter %s is declared and never read", d.Name)
		}
	}
}

// namesRead returns the names of the parameters that package apiserver and those below read, with a
// file of each.
func namesRead(t *testing.T) map[string]string {
	t.Helper()
	names := map[string]string{}
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", path), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && readsQuery(call) {
				if literal, ok := call.Args[0].(*ast.BasicLit); ok {
					name, err := strconv.Unquote(literal.Value)
					if err != nil {
						t.Error(err)
					}
					names[name] = path
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// readsQuery reports whether a call is one of a method of a query: q.Bool, c.Query().Get.
func readsQuery(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	switch on := method.X.(type) {
	case *ast.Ident:
		return on.Name == "q" || on.Name == "query"
	case *ast.CallExpr:
		of, ok := on.Fun.(*ast.SelectorExpr)
		return ok && of.Sel.Name == "Query"
	}
	return false
}
