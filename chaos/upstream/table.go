package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"quorate/chaos/thirdparty"
)

// result is what came of a test.
type result string

const (
	passed  result = "passes"
	failed  result = "FAILS"
	known   result = "known to fail"
	closed  result = "passes, though listed"
	skipped result = "not run"
)

// test is one end-to-end test, or one function of the shell tests.
type test struct {
	Suite   string
	Area    string // the file it is in
	Name    string
	Passed  bool
	Seconds float64
	// Message is why it failed: what the test says, or the places of the assertions that failed.
	Message string
	// Held and Assertions count the assertions of a function of the shell tests.
	Held, Assertions int
	expected         expectation
}

func (t test) result() result {
	switch {
	case t.expected.what == notRun:
		return skipped
	case t.Passed && t.expected.what == fails:
		return closed
	case t.Passed:
		return passed
	case t.expected.what != "":
		return known
	default:
		return failed
	}
}

// areas returns the areas of the tests, in order.
func areas(tests []test) (all []string) {
	for _, t := range tests {
		if !slices.Contains(all, t.Area) {
			all = append(all, t.Area)
		}
	}
	return all
}

// table renders the results as Markdown.
func table(tests []test, release, commit string, date time.Time) string {
	var b strings.Builder
	b.WriteString("# Kubernetes' own tests on Quorate\n\n")
	b.WriteString("`make clients-upstream` writes this file. Each suite ran on three nodes, its parts on one after the\n" +
		"other, beside controllers of kube-controller-manager of the same release. Pods of the end-to-end tests that serve\n" +
		"webhooks are processes on this machine; the others only say that they run.\n\n")
	fmt.Fprintf(&b, "Kubernetes %s; at %s, %s.\n", release, commit, date.Format(time.DateOnly))
	e2e := ofSuite(tests, e2eSuite)
	if len(e2e) > 0 {
		b.WriteString("\n## End-to-end tests of API machinery\n\n")
		fmt.Fprintf(&b, "%s\n\n", counts(e2e))
		writeAreas(&b, e2e)
		writeOthers(&b, e2e)
	}
	if functions := ofSuite(tests, kubectlSuite); len(functions) > 0 {
		b.WriteString("\n## Shell tests of kubectl\n\n")
		held, all := 0, 0
		for _, t := range functions {
			held, all = held+t.Held, all+t.Assertions
		}
		fmt.Fprintf(&b, "%s Of %d assertions in the functions that ran, %d hold.\n\n", counts(functions), all, held)
		writeFunctions(&b, functions)
	}
	return b.String()
}

func ofSuite(tests []test, suite string) (chosen []test) {
	for _, t := range tests {
		if t.Suite == suite {
			chosen = append(chosen, t)
		}
	}
	return chosen
}

// counts counts the results.
func counts(tests []test) string {
	n := func(r result) int { return count(tests, r) }
	text := fmt.Sprintf("Of %d tests %d pass, %d are known to fail, and %d are not run.",
		len(tests), n(passed)+n(closed), n(known), n(skipped))
	if n(failed) > 0 {
		text += fmt.Sprintf(" **%d fail.**", n(failed))
	}
	return text
}

func count(tests []test, r result) (n int) {
	for _, t := range tests {
		if t.result() == r {
			n++
		}
	}
	return n
}

// writeAreas writes the counts of each file of tests.
func writeAreas(b *strings.Builder, tests []test) {
	b.WriteString("| file | tests | pass | fail | not run |\n|---|---|---|---|---|\n")
	for _, area := range areas(tests) {
		all := slices.DeleteFunc(slices.Clone(tests), func(t test) bool { return t.Area != area })
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d |\n", area, len(all),
			count(all, passed)+count(all, closed), count(all, known)+count(all, failed), count(all, skipped))
	}
}

// writeOthers writes each test that doesn't pass, with the reason.
func writeOthers(b *strings.Builder, tests []test) {
	b.WriteString("\n| test that does not pass | result | why |\n|---|---|---|\n")
	for _, t := range tests {
		if r := t.result(); r != passed {
			fmt.Fprintf(b, "| %s | %s | %s |\n", thirdparty.Cell(strings.TrimPrefix(t.Name, "[sig-api-machinery] ")), r, thirdparty.Cell(t.why()))
		}
	}
}

// writeFunctions writes a row for each function of the shell tests.
func writeFunctions(b *strings.Builder, tests []test) {
	b.WriteString("| function | assertions that hold | result | why | seconds |\n|---|---|---|---|---|\n")
	for _, t := range tests {
		held, seconds := "", ""
		if t.result() != skipped {
			held, seconds = fmt.Sprintf("%d of %d", t.Held, t.Assertions), fmt.Sprintf("%.0f", t.Seconds)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", t.Name, held, t.result(), thirdparty.Cell(t.why()), seconds)
	}
}

// messageBytes is how much of a failed test's message is in the table.
const messageBytes = 300

// why returns the listed reason, or else what the test says.
func (t test) why() string {
	switch {
	case t.Passed && t.expected.what == atTimes:
		return ""
	case t.expected.what != "":
		return t.expected.reason
	case t.Passed:
		return ""
	case len(t.Message) > messageBytes:
		return strings.ToValidUTF8(t.Message[:messageBytes], "") + " …"
	default:
		return t.Message
	}
}
