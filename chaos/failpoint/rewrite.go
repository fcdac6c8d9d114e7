package failpoint

import (
	"bytes"
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"strings"

	"go.etcd.io/gofail/code"
)

// marker begins a comment that is a failpoint. The further lines of the comment are code that runs
// when the point is armed to return, so no other comment may follow.
const marker = "// gofail:"

// sources lists the files of the module from which the command is compiled.
func sources(ctx context.Context, dir string) ([]string, error) {
	const each = `{{if and .Module .Module.Main}}{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}`
	list, err := goTool(ctx, dir, "list", "-deps", "-f", each, command)
	if err != nil {
		return nil, err
	}
	return strings.Fields(list), nil
}

// rewrite activates the failpoints in a file. It returns the file and another file of the package,
// which declares the points; both are nil if the file has no points.
func rewrite(path string, content []byte) (rewritten, binding []byte, err error) {
	if !bytes.Contains(content, []byte(marker)) {
		return nil, nil, nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, content, parser.PackageClauseOnly)
	if err != nil {
		return nil, nil, err
	}
	var out, bound bytes.Buffer
	points, err := code.ToFailpoints(&out, bytes.NewReader(content))
	if err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(&bound, "package %s\n\nimport \"quorate/chaos/failpoint/trap\"\n", file.Name.Name)
	for _, point := range points {
		fmt.Fprintf(&bound, "\nvar %s = trap.New(%q)\n", point.Runtime(), point.Name())
	}
	return out.Bytes(), bound.Bytes(), nil
}
