package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxPolicyBytes is the size of the largest policy file.
const maxPolicyBytes = 1 << 20

// ReadPolicy reads a policy from a YAML file. An error is one line that names the file, the line
// and the field.
func ReadPolicy(path string) (*Policy, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the audit policy: %w", err)
	}
	defer f.Close() //nolint:errcheck // it is only read
	content, err := io.ReadAll(io.LimitReader(f, maxPolicyBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the audit policy: %w", err)
	}
	if len(content) > maxPolicyBytes {
		return nil, fmt.Errorf("audit policy %s: larger than %d bytes", path, maxPolicyBytes)
	}
	p, err := ParsePolicy(content)
	if err != nil {
		return nil, fmt.Errorf("audit policy %s: %w", path, err)
	}
	return p, nil
}

// ParsePolicy reads a policy in the form of audit.k8s.io/v1 Policy. It refuses what it does not
// know: a rule that is not understood would record less than was meant.
func ParsePolicy(content []byte) (*Policy, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("the file is empty")
		}
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if decoder.Decode(new(yaml.Node)) != io.EOF {
		return nil, errors.New("the file has more than one document, or is damaged after the first")
	}
	p := &Policy{}
	var version, kind string
	r := &reader{}
	r.object(place{document.Content[0], ""}, fields{
		"apiVersion":        func(at place) { version = r.text(at) },
		"kind":              func(at place) { kind = r.text(at) },
		"metadata":          func(place) {},
		"omitManagedFields": func(at place) { p.omitManaged = r.boolean(at) },
		"omitStages":        func(at place) { p.omit = r.stages(at) },
		"rules": func(at place) {
			r.list(at, func(at place) { p.rules = append(p.rules, r.rule(at)) })
		},
	})
	switch {
	case r.err != nil:
		return nil, r.err
	case version != "audit.k8s.io/v1":
		return nil, fmt.Errorf("apiVersion: %q: want audit.k8s.io/v1", version)
	case kind != "Policy":
		return nil, fmt.Errorf("kind: %q: want Policy", kind)
	case len(p.rules) == 0:
		return nil, errors.New("rules: there are none, so nothing would be recorded")
	}
	return p, nil
}

// reader reads a policy. It keeps the first error and reads nothing after it.
type reader struct{ err error }

// place is a node and its path from the root of the document.
type place struct {
	node *yaml.Node
	path string
}

// fields has what to do with each field that an object may have.
type fields map[string]func(at place)

func (r *reader) fail(at place, format string, args ...any) {
	if r.err != nil {
		return
	}
	r.err = fmt.Errorf("line %d: %s: %s", at.node.Line, at.path, fmt.Sprintf(format, args...))
	if at.path == "" {
		r.err = fmt.Errorf("line %d: %s", at.node.Line, fmt.Sprintf(format, args...))
	}
}

// resolve follows an alias.
func (p place) resolve() place {
	if p.node.Kind == yaml.AliasNode {
		p.node = p.node.Alias
	}
	return p
}

func (r *reader) object(at place, known fields) {
	at = at.resolve()
	if r.err == nil && at.node.Kind != yaml.MappingNode {
		r.fail(at, "want an object with fields")
	}
	seen := map[string]bool{}
	for i := 0; r.err == nil && i+1 < len(at.node.Content); i += 2 {
		name := at.node.Content[i].Value
		field := place{at.node.Content[i+1], name}
		if at.path != "" {
			field.path = at.path + "." + name
		}
		read, ok := known[name]
		switch {
		case !ok:
			r.fail(field, "unknown field; want one of %s", known)
		case seen[name]:
			r.fail(field, "the field is given twice")
		default:
			seen[name] = true
			read(field)
		}
	}
}

// String lists the names.
func (f fields) String() string {
	names := make([]string, 0, len(f))
	for name := range f {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func (r *reader) list(at place, item func(at place)) {
	at = at.resolve()
	if r.err == nil && at.node.Kind != yaml.SequenceNode {
		r.fail(at, "want a list")
	}
	for i := 0; r.err == nil && i < len(at.node.Content); i++ {
		item(place{at.node.Content[i], fmt.Sprintf("%s[%d]", at.path, i)})
	}
}

func (r *reader) text(at place) string {
	at = at.resolve()
	if at.node.Kind != yaml.ScalarNode || at.node.Tag != "!!str" {
		r.fail(at, "want a text")
	}
	return at.node.Value
}

func (r *reader) texts(at place) (all []string) {
	r.list(at, func(at place) { all = append(all, r.text(at)) })
	return all
}

func (r *reader) boolean(at place) bool {
	at = at.resolve()
	var value bool
	if err := at.node.Decode(&value); err != nil || at.node.Tag != "!!bool" { // null decodes to false
		r.fail(at, "want true or false")
	}
	return value
}

// choice returns the position of a text among the names.
func (r *reader) choice(at place, names []string) int {
	text := r.text(at)
	i := slices.Index(names, text)
	if i < 0 {
		r.fail(at, "%q: want one of %s", text, strings.Join(names, ", "))
		return 0
	}
	return i
}

func (r *reader) stages(at place) (set stages) {
	r.list(at, func(at place) { set = set.with(Stage(r.choice(at, stageNames()))) })
	return set
}
