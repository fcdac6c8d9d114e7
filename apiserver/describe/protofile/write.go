package protofile

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quorate/apiserver/objects/schema"
)

// bundlePackage is the package of the bundle.
const bundlePackage = "platform"

// Files returns the text of one file for each API group and version, by path, such as
// "platform/core/v1/generated.proto". Files import each other by these paths.
func Files(c *schema.Catalog) (map[string][]byte, error) {
	all, err := collect(c)
	if err != nil {
		return nil, err
	}
	byPackage := map[string][]*message{}
	for _, m := range all.sorted() {
		byPackage[m.pkg] = append(byPackage[m.pkg], m)
	}
	out := map[string][]byte{}
	for pkg, messages := range byPackage {
		w := &writer{pkg: pkg, all: all.messages}
		out[path(pkg)] = w.file(messages)
	}
	return out, nil
}

// Bundle returns the text of one file that contains all messages and imports nothing.
func Bundle(c *schema.Catalog) ([]byte, error) {
	all, err := collect(c)
	if err != nil {
		return nil, err
	}
	for _, m := range all.messages {
		m.pkg = bundlePackage
	}
	w := &writer{pkg: bundlePackage, all: all.messages}
	return w.file(all.sorted()), nil
}

func (c *collector) sorted() []*message {
	out := make([]*message, 0, len(c.messages))
	for _, name := range slices.Sorted(maps.Keys(c.messages)) {
		out = append(out, c.messages[name])
	}
	return out
}

func path(pkg string) string { return strings.ReplaceAll(pkg, ".", "/") + "/generated.proto" }

// writer writes one file.
type writer struct {
	pkg     string
	all     map[string]*message
	imports map[string]bool
	out     bytes.Buffer
}

func (w *writer) file(messages []*message) []byte {
	w.imports = map[string]bool{}
	for _, m := range messages {
		w.message(m)
	}
	var head bytes.Buffer
	head.WriteString("// Generated from the kinds that the server serves.\n\nsyntax = \"proto2\";\n\n")
	fmt.Fprintf(&head, "package %s;\n\n", w.pkg)
	for _, name := range slices.Sorted(maps.Keys(w.imports)) {
		fmt.Fprintf(&head, "import %q;\n", name)
	}
	if len(w.imports) > 0 {
		head.WriteByte('\n')
	}
	fmt.Fprintf(&head, "option go_package = %q;\n", strings.ReplaceAll(w.pkg, ".", "/"))
	return append(head.Bytes(), w.out.Bytes()...)
}

func (w *writer) message(m *message) {
	w.out.WriteByte('\n')
	if m.comment != "" {
		fmt.Fprintf(&w.out, "// %s\n", m.comment)
	}
	fmt.Fprintf(&w.out, "message %s {\n", m.name)
	for _, f := range m.fields {
		if f.inside != nil {
			fmt.Fprintf(&w.out, "  message %s {\n", f.typ)
			w.fields(f.inside, "    ")
			w.out.WriteString("  }\n")
		}
	}
	w.fields(m.fields, "  ")
	w.out.WriteString("}\n")
}

func (w *writer) fields(fields []field, indent string) {
	for _, f := range fields {
		if f.comment != "" {
			fmt.Fprintf(&w.out, "%s// %s\n", indent, f.comment)
		}
		label, typ := f.label, f.typ
		if f.inside == nil {
			typ = w.reference(typ)
		}
		if f.mapped {
			typ = "map<string, " + typ + ">"
		}
		if label != "" {
			label += " "
		}
		fmt.Fprintf(&w.out, "%s%s%s %s = %d;\n", indent, label, typ, f.name, f.number)
	}
}

// reference returns the name of a type as written in this file, and records the import it needs.
func (w *writer) reference(typ string) string {
	m := w.all[typ]
	if m == nil || m.pkg == w.pkg {
		return typ
	}
	w.imports[path(m.pkg)] = true
	return m.pkg + "." + typ
}
