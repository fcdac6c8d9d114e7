package clients_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The pages and how their blocks of code are run. A block is
//
//   - a session, if its first line is a command after "$ ": each command is run, and what it prints
//     is compared with the lines below it;
//   - commands, if a comment before it says "run": they are run and must succeed;
//   - not run, if a comment says "not run" and why, or "no commands" if it has none;
//   - data, if it is fenced with a language that is no shell's.
//
// Such a comment has the form
//
//	<!-- run on n1, n2
//	n3: systemctl stop quorate
//	-->
//
// Its hosts are those on which the commands are run, by default "you". The lines below are commands
// that are run before, each on its own host. Numbers in the output of a session may differ from run
// to run, unless the comment says "run exactly".

// onOneNode lists the pages that are run on a fresh node each, with kubectl alone.
var onOneNode = []string{"README.md", "docs/clients.md"}

// onHosts lists the pages that are run on three hosts, in this order: the first one makes the cluster
// of which the others go out.
var onHosts = []string{
	"docs/tutorial.md", "docs/consistency.md", "docs/troubleshooting.md", "docs/operations.md", "docs/alerts.md", "docs/upgrading.md",
	"docs/backup.md", "docs/lost-nodes.md", "docs/cluster.md",
}

// onOneHost lists the pages that are run on the reader's machine alone.
var onOneHost = []string{"docs/audit.md"}

const repository = "../.."

// directive is what a comment before a block says.
type directive struct {
	run     bool
	exactly bool
	hosts   []string
	before  []string // HOST: COMMAND
	reason  string   // why it is not run
	none    bool
}

var directiveForm = regexp.MustCompile(`(?s)^<!-- (run(?: exactly)?(?: on ([a-z0-9, ]+))?|not run: ([^\n]+?)|no commands)\s*(?:\n(.*))?-->$`)

func parseDirective(comment string) (d directive, err error) {
	if comment == "" {
		return d, nil
	}
	m := directiveForm.FindStringSubmatch(strings.TrimSpace(comment))
	if m == nil {
		return d, fmt.Errorf("not a directive: %s", comment)
	}
	d.none, d.reason, d.run = m[1] == "no commands", strings.TrimSpace(m[3]), strings.HasPrefix(m[1], "run")
	d.exactly = strings.HasPrefix(m[1], "run exactly")
	for name := range strings.SplitSeq(m[2], ",") {
		if name = strings.TrimSpace(name); name != "" {
			d.hosts = append(d.hosts, name)
		}
	}
	for line := range strings.Lines(m[4]) {
		if line = strings.TrimSpace(line); line != "" {
			d.before = append(d.before, line)
		}
	}
	return d, nil
}

// how says what becomes of a block.
type how int

const (
	prose how = iota
	typed
	commandsOnly
	notRun
	data
	unmarked
)

func (b *block) how() (how, directive, error) {
	d, err := parseDirective(b.comment)
	language := strings.TrimSpace(strings.TrimPrefix(b.open, fence))
	switch {
	case b.code == "":
		return prose, d, nil
	case err != nil:
		return unmarked, d, err
	case d.reason != "" || d.none:
		return notRun, d, nil
	case strings.HasPrefix(strings.TrimSpace(b.code), "$ "):
		return typed, d, nil
	case d.run:
		return commandsOnly, d, nil
	case language != "" && language != "sh" && language != "console":
		return data, d, nil
	}
	return unmarked, d, nil
}

// TestEveryBlockIsRunOrMarked counts the blocks of all pages. One that no test runs must say why.
func TestEveryBlockIsRunOrMarked(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(repository, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[how]int{}
	reasons := map[string]int{}
	for _, path := range append(pages, filepath.Join(repository, "README.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(repository, path)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks(string(text)) {
			what, d, err := b.how()
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			counts[what]++
			if d.reason != "" {
				reasons[d.reason]++
			}
			switch {
			case what == unmarked:
				t.Errorf("%s: no test runs this block, and no comment before it says why:\n%s", name, b.code)
			case (what == typed || what == commandsOnly) && !isRun(name):
				t.Errorf("%s: the tests of this module do not run the page, but it has\n%s", name, b.code)
			}
		}
	}
	t.Logf("blocks: %d sessions and %d blocks of commands are run, %d are marked, %d are data", counts[typed], counts[commandsOnly], counts[notRun], counts[data])
	for reason, n := range reasons {
		t.Logf("  not run, %d: %s", n, reason)
	}
}

func isRun(page string) bool {
	return slices.Contains(slices.Concat(onOneNode, onHosts, onOneHost), page)
}

// loose is what differs in the output of quorate's own commands, and the word that stands for it.
var loose = []struct {
	pattern *regexp.Regexp
	word    string
}{
	{regexp.MustCompile(`\b[A-Z2-7]{26}\b`), "CLUSTER"},
	{regexp.MustCompile(`\bv[0-9]+\.[0-9]+\.[0-9]+[-.a-z0-9]*`), "BUILD"},
	{regexp.MustCompile(`\b[0-9a-f]{16}\b`), "N"},
	{regexp.MustCompile(`(?m)\b(leader|voter) +(true|-)`), "ROLE $2"},
	{regexp.MustCompile(`before-recovery-[0-9T.]+`), "before-recovery-TIME"},
	{regexp.MustCompile(`\b([0-9]+h)?([0-9]+m)?[0-9]+(\.[0-9]+)?(µs|ms|s)\b`), "AGE"},
	{regexp.MustCompile(`\b[0-9]+(\.[0-9]+)?\b`), "N"},
}

// same reports whether a command printed what a page says, but for what differs from run to run. A
// line of the page may end with "...", for the rest of the line.
func same(printed, page string, loosely bool) bool {
	got, want := strings.Split(simplify(printed, loosely), "\n"), strings.Split(simplify(page, loosely), "\n")
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if start, cut := strings.CutSuffix(want[i], "..."); got[i] != want[i] && !(cut && strings.HasPrefix(got[i], start)) {
			return false
		}
	}
	return true
}

func simplify(text string, loosely bool) string {
	text = steady(text)
	if loosely {
		for _, v := range loose {
			text = v.pattern.ReplaceAllString(text, v.word)
		}
	}
	return text
}

func TestDirectives(t *testing.T) {
	t.Parallel()
	d, err := parseDirective("<!-- run on n1, n2\nn3: systemctl stop quorate\n-->\n")
	if err != nil || !d.run || strings.Join(d.hosts, "+") != "n1+n2" || len(d.before) != 1 || d.before[0] != "n3: systemctl stop quorate" {
		t.Errorf("%+v %v", d, err)
	}
	if d, err = parseDirective("<!-- not run: needs Docker -->"); err != nil || d.reason != "needs Docker" || d.run {
		t.Errorf("%+v %v", d, err)
	}
	if d, err = parseDirective("<!-- no commands -->"); err != nil || !d.none {
		t.Errorf("%+v %v", d, err)
	}
	if d, err = parseDirective("<!-- run exactly on n1 -->"); err != nil || !d.run || !d.exactly || strings.Join(d.hosts, "+") != "n1" {
		t.Errorf("%+v %v", d, err)
	}
	if _, err = parseDirective("<!-- rn -->"); err == nil {
		t.Error("a misspelt directive is accepted")
	}
	page := "n1 voter true 3 20 0 4ms 55.5 GiB v0.0.0-devel n1:6443\n... of cluster XY2R56SX2LENN7RPFHFRA64M3R as of 2026-11-23T16:38:09Z\nError: a..."
	printed := "n1   leader   true 14 203 0 0s 1.5 GiB v1.2.3 n1:6443\n... of cluster TZOVI7QQJF2EOJ4JGDDODSFTKY as of 2026-11-24T10:00:00Z\nError: abc"
	if !same(printed, page, true) || same(printed, page, false) || same("other", page, true) {
		t.Errorf("%q is not the same as %q", simplify(printed, true), simplify(page, true))
	}
}
