package main

import (
	"fmt"
	"strings"
	"time"

	"quorate/chaos/thirdparty"
)

// result is what came of a step.
type result string

const (
	passed  result = "passes"
	failed  result = "FAILS"
	gap     result = "known gap"
	closed  result = "passes, though listed as a gap"
	skipped result = "skipped"
)

// trial is one step of one entry, and what came of it. A skipped entry has one trial, without a
// step.
type trial struct {
	software software
	step     step
	result   result
	took     time.Duration
	note     string // counts that the step wrote to the file $NOTE
	// output is what the step printed, or why the software was skipped.
	output string
}

// judge returns the result of a step that ended with err.
func judge(s step, err error) result {
	switch {
	case err == nil && s.Gap == "":
		return passed
	case err == nil:
		return closed
	case s.Gap == "":
		return failed
	default:
		return gap
	}
}

const (
	// reasonLines is how many of the last lines of a failed fetch are in the table.
	reasonLines = 3
	// outputLines is how many of the last lines of a failed step are below the table.
	outputLines = 15
	// lineBytes is how much of each of them.
	lineBytes = 400
)

// table renders trials as Markdown.
func table(trials []trial, commit string, date time.Time) string {
	var b strings.Builder
	b.WriteString("# Software of others on Quorate\n\n")
	b.WriteString("`make clients` writes this file. Each entry ran on three nodes of its own, each step on another\nnode.\n\n")
	fmt.Fprintf(&b, "%s; at %s, %s.\n\n", summary(trials), commit, date.Format(time.DateOnly))
	b.WriteString("| software | how it is obtained | tried | result | seconds |\n|---|---|---|---|---|\n")
	last := ""
	for _, t := range trials {
		name, source := t.software.Name+" "+t.software.Version, t.software.Source
		if name == last {
			name, source = "", ""
		} else {
			last = name
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", name, thirdparty.Cell(source), thirdparty.Cell(t.step.Tried), thirdparty.Cell(t.says()), t.seconds())
	}
	b.WriteString(outputs(trials))
	return b.String()
}

// says returns the result with its counts and its reason.
func (t trial) says() string {
	text := string(t.result)
	if t.note != "" {
		text += " (" + t.note + ")"
	}
	switch t.result {
	case gap, closed:
		text += ": " + t.step.Gap
	case skipped:
		text += ": " + t.output
	}
	return text
}

func (t trial) seconds() string {
	if t.took == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", t.took.Seconds())
}

// outputs shows how the steps ended that did not pass.
func outputs(trials []trial) string {
	var b strings.Builder
	for _, t := range trials {
		if t.result != failed && t.result != gap {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("\n## What the steps printed that did not pass\n")
		}
		fmt.Fprintf(&b, "\n### %s %s: %s\n\n", t.software.Name, t.software.Version, t.step.Tried)
		for line := range strings.Lines(tail(t.output, outputLines)) {
			b.WriteString("    " + line)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// tail returns the last lines of a text, each of bounded length.
func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	all = all[max(0, len(all)-lines):]
	for i, line := range all {
		if len(line) > lineBytes {
			all[i] = strings.ToValidUTF8(line[:lineBytes], "") + " …"
		}
	}
	return strings.Join(all, "\n")
}

// summary counts the results.
func summary(trials []trial) string {
	return fmt.Sprintf("%d steps pass, %d fail, %d are known gaps, %d pass though listed as gaps, %d entries are skipped",
		count(trials, passed), count(trials, failed), count(trials, gap), count(trials, closed), count(trials, skipped))
}

func count(trials []trial, r result) (n int) {
	for _, t := range trials {
		if t.result == r {
			n++
		}
	}
	return n
}
