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

// marker begins the comment that is a failpoint. The comment's further lines are code that runs
// when the point is armed to return; so a comment of another kind must not follow.
const marker = "// gofail:"

// sources lists the files of the module that the command is compiled from.
func sources(ctx context.Context, dir string) ([]string, error) {
	const each = `{{if and .Module .Module.Main}}{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}`
	list, err := goTool(ctx, dir, "list", "-deps", "-f", each, command)
	if err != nil {
		return nil, err
	}
	return strings.Fields(list), nil
}

// rewrite makes the failpoints in a file real. It returns the file and one more for the package,
// which declares the points; nil when the file has none.
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
