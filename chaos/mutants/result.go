package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// result is what became of one mutant: a line of results.jsonl.
type result struct {
	Name    string  `json:"name"`
	Digest  string  `json:"digest"`
	Commit  string  `json:"commit"`
	Date    string  `json:"date"`
	Verdict verdict `json:"verdict"`
	Package string  `json:"package,omitempty"` // whose test failed
	Test    string  `json:"test,omitempty"`    // the first that failed
	Seconds float64 `json:"seconds"`           // from the edit to the failure, with building
	// Detail is for whoever runs the mutant, and not kept.
	Detail string `json:"-"`
}

// readResults reads a results file; of several lines of one mutant the last counts.
func readResults(file string) (map[string]result, error) {
	content, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	results := map[string]result{}
	lines := bufio.NewScanner(bytes.NewReader(content))
	for lines.Scan() {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		results[r.Name] = r
	}
	return results, lines.Err()
}

// appendResult adds a line to a results file.
func appendResult(file string, r result) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// compact rewrites a results file: one line for each mutant of the list, in its order.
func compact(file string, mutants []*mutant, results map[string]result) error {
	var b bytes.Buffer
	for _, m := range mutants {
		if r, ok := results[m.Name]; ok {
			line, err := json.Marshal(r)
			if err != nil {
				return err
			}
			b.Write(append(line, '\n'))
		}
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// table renders the results as Markdown, in the list's order.
func table(mutants []*mutant, results map[string]result) string {
	var b strings.Builder
	b.WriteString(summary(mutants, results))
	b.WriteString("\n| fault | file | breaks | caught by | seconds | at |\n|---|---|---|---|---|---|\n")
	for _, m := range mutants {
		r, ok := results[m.Name]
		seconds, at := "", ""
		if ok {
			seconds, at = fmt.Sprintf("%.0f", r.Seconds), r.Commit
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | %s |\n", m.Name, m.File, cell(m.Breaks), r.by(), seconds, at)
	}
	return b.String()
}

// by says what caught the mutant.
func (r result) by() string {
	switch r.Verdict {
	case caught:
		return fmt.Sprintf("`%s` %s", r.Package, cell(r.Test))
	case hung:
		return fmt.Sprintf("`%s` %s, by a hang (timeout)", r.Package, cell(r.Test))
	case "":
		return "not run"
	}
	return string(r.Verdict)
}

// cell makes text fit into a cell of a Markdown table.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

// summary counts the verdicts and names the dates and commits of the runs.
func summary(mutants []*mutant, results map[string]result) string {
	counts := map[verdict]int{}
	var dates []string
	for _, m := range mutants {
		r := results[m.Name]
		counts[r.Verdict]++
		if r.Date != "" {
			dates = append(dates, r.Date)
		}
	}
	slices.Sort(dates)
	dates = slices.Compact(dates)
	return fmt.Sprintf("%d faults: %d caught, %d of them by a hang; %d survived, %d unsure or in error, %d not run. Run on %s.\n",
		len(mutants), counts[caught]+counts[hung], counts[hung], counts[survived], counts[unsure]+counts[invalid], counts[""],
		strings.Join(dates, ", "))
}

const tableStart, tableEnd = "<!-- table: written by `go run ./chaos/mutants -table` -->\n", "<!-- end of table -->\n"

// insertTable replaces the table of a Markdown document.
func insertTable(document, table string) (string, error) {
	head, rest, start := strings.Cut(document, tableStart)
	_, tail, end := strings.Cut(rest, tableEnd)
	if !start || !end {
		return "", errors.New("the marks around the table are missing")
	}
	return head + tableStart + table + tableEnd + tail, nil
}
