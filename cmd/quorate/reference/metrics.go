package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const metricsHead = `# Metrics

<!-- Generated from the code by make generate: edit the metrics.go of the package. -->

Every metric that a node serves at ` + "`/metrics`" + `, besides those of the Go runtime and of the process
(` + "`go_*`, `process_*`" + `). A histogram NAME has the series NAME_bucket, NAME_sum and NAME_count. It is
exported from its first observation on, and most series with labels from their first use.
[alerts](alerts.md) says which of them to watch.
`

// metric is the definition of a metric.
type metric struct {
	name, kind, help string
	labels           []string
	pkg              string // its folder
}

// metricsPage returns the page about all metrics that the sources define.
func metricsPage(root string) ([]byte, error) {
	all, err := metricsOf(root)
	if err != nil {
		return nil, err
	}
	packages := map[string][]metric{}
	for _, m := range all {
		packages[m.pkg] = append(packages[m.pkg], m)
	}
	var page bytes.Buffer
	page.WriteString(metricsHead)
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		fmt.Fprintf(&page, "\n## %s\n\n| metric | type | labels | meaning |\n|---|---|---|---|\n", pkg)
		for _, m := range packages[pkg] {
			fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", m.name, m.kind, strings.Join(m.labels, ", "), cell(m.help))
		}
	}
	return page.Bytes(), nil
}

// metricsOf returns the metrics that the packages of the server define, by name.
func metricsOf(root string) ([]metric, error) {
	found := map[string]metric{}
	for _, folder := range []string{"apiserver", "cluster", "cmd/quorate", "raftstore"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil || !bytes.Contains(text, []byte("client_golang/prometheus")) {
				return err
			}
			pkg, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			return metricsOfFile(path, text, filepath.ToSlash(pkg), found)
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b metric) int { return strings.Compare(a.name, b.name) }), nil
}

// metricsOfFile adds the metrics that a file defines.
func metricsOfFile(path string, text []byte, pkg string, found map[string]metric) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, 0)
	if err != nil {
		return err
	}
	var failed error
	for _, d := range file.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is {
				return true
			}
			selector, is := call.Fun.(*ast.SelectorExpr)
			if !is || failed != nil || !isPackage(selector.X, "prometheus") {
				return true
			}
			m, is, err := definition(selector.Sel.Name, call, d)
			if err != nil {
				failed = fmt.Errorf("%s: %w", set.Position(call.Pos()), err)
			}
			if is {
				m.pkg = pkg
				found[m.name] = m
			}
			return true
		})
	}
	return failed
}

func isPackage(x ast.Expr, name string) bool {
	id, is := x.(*ast.Ident)
	return is && id.Name == name
}

// definition returns the metric that a call of a function of package prometheus defines, if it does.
// in is the declaration around it.
func definition(function string, call *ast.CallExpr, in ast.Decl) (m metric, is bool, err error) {
	if function == "NewDesc" {
		if len(call.Args) != 4 {
			return m, false, fmt.Errorf("NewDesc with %d arguments", len(call.Args))
		}
		m.name, m.help = text(call.Args[0]), text(call.Args[1])
		m.labels, m.kind = append(texts(call.Args[2]), keys(call.Args[3], in)...), "gauge"
		if strings.HasSuffix(m.name, "_total") {
			m.kind = "counter"
		}
		return m, true, m.check()
	}
	kind, is := strings.CutPrefix(function, "New")
	vector := strings.HasSuffix(kind, "Vec")
	kind = strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(kind, "Vec"), "Func"))
	if !is || !slices.Contains([]string{"counter", "gauge", "histogram", "summary"}, kind) {
		return m, false, nil
	}
	options, is := call.Args[0].(*ast.CompositeLit)
	if !is {
		return m, false, fmt.Errorf("the options of a %s are no literal", kind)
	}
	m.kind = kind
	for _, e := range options.Elts {
		pair, is := e.(*ast.KeyValueExpr)
		if !is {
			continue
		}
		switch key, _ := pair.Key.(*ast.Ident); key.Name {
		case "Name":
			m.name = text(pair.Value)
		case "Help":
			m.help = text(pair.Value)
		case "ConstLabels":
			m.labels = append(m.labels, keys(pair.Value, in)...)
		}
	}
	if vector && len(call.Args) > 1 {
		m.labels = append(m.labels, texts(call.Args[1])...)
	}
	return m, true, m.check()
}

// check returns an error for a definition that could not be read.
func (m *metric) check() error {
	if m.name == "" || m.help == "" {
		return fmt.Errorf("the name or the help of a metric (%q, %q) is no constant text", m.name, m.help)
	}
	return nil
}

// text returns the value of a constant expression of texts, "" for any other.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.StringVal(constant.MakeFromLiteral(e.Value, e.Kind, 0))
	case *ast.BinaryExpr:
		return text(e.X) + text(e.Y)
	}
	return ""
}

// texts returns the texts of a literal of a list.
func texts(e ast.Expr) (all []string) {
	if list, is := e.(*ast.CompositeLit); is {
		for _, one := range list.Elts {
			all = append(all, text(one))
		}
	}
	return all
}

// keys returns the names of constant labels: those of a literal, or of the literals that the
// declaration around has, if e is a variable.
func keys(e ast.Expr, in ast.Decl) (all []string) {
	if id, is := e.(*ast.Ident); is && id.Name == "nil" {
		return nil
	}
	var within ast.Node = e
	if _, literal := e.(*ast.CompositeLit); !literal {
		within = in
	}
	ast.Inspect(within, func(n ast.Node) bool {
		labels, is := n.(*ast.CompositeLit)
		if !is {
			return true
		}
		if s, is := labels.Type.(*ast.SelectorExpr); !is || s.Sel.Name != "Labels" {
			return true
		}
		for _, one := range labels.Elts {
			if pair, is := one.(*ast.KeyValueExpr); is {
				all = append(all, text(pair.Key))
			}
		}
		return true
	})
	return all
}
