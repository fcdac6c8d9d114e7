package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// documents are those whose sessions a test runs.
var documents = []string{"../../README.md", "../../docs/clients.md"}

// TestReadme runs the sessions of the documents, one after the other, each document against a fresh
// node. A session is a block of code whose first line is a command, which follows "$ ". The lines
// below a command are its output, except for the parts that differ from run to run (see steady).
func TestReadme(t *testing.T) {
	for _, path := range documents {
		t.Run(filepath.Base(path), func(t *testing.T) { runSessions(t, path) })
	}
}

func runSessions(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := startCluster(t, binaries.quorate, 1)
	sessions := 0
	var rewritten strings.Builder
	for _, part := range blocks(string(text)) {
		if !strings.HasPrefix(part.code, "$ ") {
			rewritten.WriteString(part.raw)
			continue
		}
		sessions++
		printed := c.typed(t, part.code)
		switch {
		case steady(printed) == steady(part.code):
			rewritten.WriteString(part.raw)
		case *update:
			rewritten.WriteString(part.with(printed))
		default:
			t.Errorf("a session as it is in %s:\n%s\nas it is:\n%s", path, part.code, printed)
		}
	}
	if sessions == 0 {
		t.Errorf("no session in %s", path)
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(path, []byte(rewritten.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// typed returns a session with what its commands print.
func (c *cluster) typed(t *testing.T, code string) string {
	t.Helper()
	var printed strings.Builder
	for line := range strings.Lines(code) {
		command, found := strings.CutPrefix(line, "$ ")
		if !found {
			continue
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		path := filepath.Dir(binaries.kubectl) + string(filepath.ListSeparator) + os.Getenv("PATH")
		cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "HOME="+c.home, "PATH="+path)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v", command, err)
		}
		printed.WriteString(line)
		for shown := range strings.Lines(string(out)) { // a table ends its last column with spaces, a document does not
			printed.WriteString(strings.TrimRight(shown, " \n") + "\n")
		}
	}
	return printed.String()
}

// block is a part of a text: a fenced block of code, an indented one, or what stands between such.
type block struct {
	raw    string // with the fences, or indented
	code   string // without
	indent string
	open   string // the line that opens a fence
}

const fence, indent = "```", "    "

// blocks splits a text; its parts in a row are the text.
func blocks(text string) []block {
	var parts []block
	var current block
	end := func() {
		if current.raw != "" {
			parts = append(parts, current)
		}
		current = block{}
	}
	for line := range strings.Lines(text) {
		switch {
		case current.open != "":
			current.raw += line
			if strings.HasPrefix(line, fence) {
				end()
			} else {
				current.code += line
			}
		case strings.HasPrefix(line, fence):
			end()
			current = block{raw: line, open: line}
		case strings.HasPrefix(line, indent):
			if current.indent == "" {
				end()
			}
			current.indent = indent
			current.raw += line
			current.code += strings.TrimPrefix(line, indent)
		default:
			if current.indent != "" {
				end()
			}
			current.raw += line
		}
	}
	end()
	return parts
}

// with returns the block with other code.
func (b block) with(code string) string {
	if b.open != "" {
		return b.open + code + fence + "\n"
	}
	var indented strings.Builder
	for line := range strings.Lines(code) {
		indented.WriteString(b.indent + line)
	}
	return indented.String()
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	const text = "# A\n\n    $ kubectl get pods\n    NAME\n\nwords\n```\n$ kubectl version\n```\n    make\n"
	var whole strings.Builder
	var codes []string
	for _, part := range blocks(text) {
		whole.WriteString(part.raw)
		if part.code != "" {
			codes = append(codes, part.code)
			if part.with(part.code) != part.raw {
				t.Errorf("%q with its own code is %q", part.raw, part.with(part.code))
			}
		}
	}
	if whole.String() != text {
		t.Errorf("parts make up %q", whole.String())
	}
	if got := strings.Join(codes, "|"); got != "$ kubectl get pods\nNAME\n|$ kubectl version\n|make\n" {
		t.Errorf("code is %q", got)
	}
}
