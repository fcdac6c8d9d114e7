// Command page writes ROWS.md, which presents the rule of each row in words, from the table that
// TestSpecification uses (rows.tsv) and the list of rows without a test (LEFT_OUT.md). It reads and
// writes files in the working directory.
//
//	page [-check]
//
// With -check it writes nothing, and fails if ROWS.md is not up to date.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

const (
	name  = "ROWS.md"
	width = 100
)

// head precedes the rows.
const head = `# Rows

<!-- Generated from rows.tsv by make generate: edit that table. -->

Comments and tests cite the rules of the API by short ids, which are called rows: rule n of section
m of the specification is §m.n, and what the specification leaves open is a letter and a number
(C36, D26). This page says each rule in words. A code with a word, such as 409 Conflict, is a Status
document with that code and reason; a version is a resourceVersion.

Rows without a test are marked; [LEFT_OUT.md](LEFT_OUT.md) says why. The test of one row runs with

    go test ./apiserver/specification -run 'TestSpecification//(^|_)C36(_|$)'
`

// chapters are the headings, by the beginning of a row's id; chapter says how to find that.
var chapters = map[string]string{
	"A": "Create", "B": "Reads and representations", "C": "Lists", "D": "Watches", "E": "Replace", "F": "Patch",
	"G": "Delete and garbage collection", "H": "Subresources", "I": "Errors and limits",
	"J": "Authentication and authorization", "K": "ThirdPartyResource", "L": "Discovery, health and kubectl",
	"M": "Rules of kinds, and their tables", "N": "Consistency", "Z": "Decisions where authorities differ",
	"§1": "The service", "§2": "Resources and their fields", "§3": "States and transitions", "§4": "Operations",
	"§5": "Authentication", "§6": "Events", "§7": "Errors", "§8": "Limits", "§9": "Versioning",
}

var (
	chapter = regexp.MustCompile(`^(?:§\d+|[A-Z])`)
	rowID   = regexp.MustCompile(`^(?:§[\d.]+[a-z]?(?:-[\w-]+)?|[A-Z]\d+)$`)
)

func main() {
	check := flag.Bool("check", false, "fail when ROWS.md is not fresh, write nothing")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	table, err := os.ReadFile("rows.tsv")
	if err != nil {
		return err
	}
	leftOut, err := os.ReadFile("LEFT_OUT.md")
	if err != nil {
		return err
	}
	text, err := page(string(table), withoutTest(string(leftOut)))
	if err != nil {
		return err
	}
	if !check {
		return os.WriteFile(name, text, 0o644)
	}
	have, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(have, text) {
		return fmt.Errorf("%s is not fresh: run make generate", name)
	}
	return nil
}

// withoutTest returns the ids in the first column of LEFT_OUT.md.
func withoutTest(text string) map[string]bool {
	ids := map[string]bool{}
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for id := range strings.FieldsSeq(cells[1]) {
			ids[id] = rowID.MatchString(id)
		}
	}
	return ids
}

// page writes one list item for each row, under the heading of its chapter.
func page(table string, leftOut map[string]bool) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(head)
	last := ""
	for line := range strings.Lines(table) {
		id, rule, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || !rowID.MatchString(id) {
			return nil, fmt.Errorf("rows.tsv: %q is not an id, a tab and a rule", line)
		}
		if part := chapter.FindString(id); part != last {
			fmt.Fprintf(&b, "\n## %s. %s\n\n", part, chapters[part])
			last = part
		}
		if leftOut[id] {
			rule += " *No test.*"
		}
		writeItem(&b, "**"+id+"** "+rule)
	}
	return b.Bytes(), nil
}

// writeItem writes a list item, wrapped at width columns.
func writeItem(b *bytes.Buffer, text string) {
	b.WriteString("-")
	column := 1
	for word := range strings.FieldsSeq(text) {
		length := len([]rune(word))
		if column+1+length > width {
			b.WriteString("\n ")
			column = 1
		}
		b.WriteString(" " + word)
		column += 1 + length
	}
	b.WriteString("\n")
}
