package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadme runs the sessions of the pages of onOneNode, one after the other, each page against a
// fresh node. The lines below a command are its output, except for the parts that differ from run to
// run (see steady).
func TestReadme(t *testing.T) {
	for _, page := range onOneNode {
		t.Run(filepath.Base(page), func(t *testing.T) { runSessions(t, filepath.Join(repository, page)) })
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
	raw     string // with the fences, or indented
	code    string // without
	indent  string
	open    string // the line that opens a fence
	comment string // of HTML, right before the block
}

const fence, indent = "```", "    "

// splitter splits a text into blocks.
type splitter struct {
	parts   []block
	current block
	comment string // that the next block has
	above   string // the comment of the block above, if nothing but empty lines have come since
	blank   bool   // the last line was empty, so that an indented one begins a block
}

// blocks splits a text; its parts in a row are the text.
func blocks(text string) []block {
	s := splitter{blank: true}
	for line := range strings.Lines(text) {
		s.line(line)
	}
	s.end()
	return s.parts
}

func (s *splitter) end() {
	if s.current.raw != "" {
		s.parts = append(s.parts, s.current)
	}
	s.current = block{}
}

// begin begins a block of code.
func (s *splitter) begin(b block) {
	s.end()
	b.comment, s.comment = s.comment, ""
	if b.comment == "" && strings.HasPrefix(s.above, "<!-- no") { // it goes on with a block that is not run
		b.comment = s.above
	}
	s.current, s.above = b, b.comment
}

func (s *splitter) line(line string) {
	empty := strings.TrimSpace(line) == ""
	defer func() { s.blank = empty }()
	switch c := &s.current; {
	case c.open != "":
		c.raw += line
		if strings.HasPrefix(line, fence) {
			s.end()
		} else {
			c.code += line
		}
	case strings.HasPrefix(line, fence):
		s.begin(block{raw: line, open: line})
	case c.indent != "" && strings.HasPrefix(line, c.indent), c.indent == "" && s.blank && strings.HasPrefix(line, indent) && !s.commented():
		if c.indent == "" {
			s.begin(block{indent: line[:len(line)-len(strings.TrimLeft(line, " "))]})
		}
		s.current.raw += line
		s.current.code += strings.TrimPrefix(line, s.current.indent)
	default:
		if c.indent != "" {
			s.end()
		}
		s.current.raw += line
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "<!--"):
			s.comment, s.above = strings.TrimSpace(line)+"\n", ""
		case s.commented():
			s.comment += line
		case !empty:
			s.comment, s.above = "", ""
		}
	}
}

// commented reports whether a comment has begun and not ended.
func (s *splitter) commented() bool { return s.comment != "" && !strings.Contains(s.comment, "-->") }

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
	const text = "# A\n\n    $ kubectl get pods\n    NAME\n\nwords\n    more words\n```\n$ kubectl version\n```\n\n<!-- run -->\n\n    make\n"
	var whole strings.Builder
	var codes, comments []string
	for _, part := range blocks(text) {
		whole.WriteString(part.raw)
		if part.code != "" {
			codes, comments = append(codes, part.code), append(comments, strings.TrimSpace(part.comment))
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
	if got := strings.Join(comments, "|"); got != "||<!-- run -->" {
		t.Errorf("comments are %q", got)
	}
}
