package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"quorate/chaos/plot"
)

// writeResults prints the results, and writes them to a folder in all forms.
func writeResults(dir string, r *results, systems []*system) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	text := markdown(r)
	fmt.Print(text)
	encoded, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	page, err := htmlPage(r)
	if err != nil {
		return err
	}
	errs := []error{
		os.WriteFile(filepath.Join(dir, "results.json"), append(encoded, '\n'), 0o644),
		os.WriteFile(filepath.Join(dir, "results.md"), []byte(text), 0o644),
		os.WriteFile(filepath.Join(dir, "results.html"), page, 0o644),
	}
	for _, one := range systems {
		errs = append(errs, os.WriteFile(filepath.Join(dir, one.name+".jsonl"), one.raw, 0o644))
	}
	return errors.Join(errs...)
}

// column is a system in tables and charts.
type column struct {
	System int
	Title  string
	bar    string // the title beside a bar, which has little room
	tone   plot.Tone
}

// columns returns the systems in the order of a table that shows the new build last.
func (a *about) columns() []column {
	all := []column{{peer, "peer", "peer", plot.Quiet}}
	if a.Base != "" {
		all = append(all, column{base, "Quorate at " + a.Base, a.Base, plot.Second})
	}
	return append(all, column{quorate, "Quorate", "Quorate", plot.First})
}

// markdown returns the results as tables, one for each number of nodes.
func markdown(r *results) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n", r.About.sentences())
	columns := r.About.columns()
	nodes := 0
	for i := range r.Rows {
		one := &r.Rows[i]
		if one.Nodes != nodes {
			nodes = one.Nodes
			header := r.About.header(nodes)
			fmt.Fprintf(&text, "\n%s%s\n", line(header), strings.Repeat("|---", len(header))+"|")
		}
		cells := []string{one.Work}
		for _, c := range columns {
			cells = append(cells, one.cell(c.System))
		}
		cells = append(cells, one.ratios())
		if r.About.Base != "" {
			cells = append(cells, one.cpuToBase())
		}
		text.WriteString(line(cells))
	}
	return text.String()
}

// header returns the titles of the table for a number of nodes.
func (a *about) header(nodes int) []string {
	titles := []string{fmt.Sprintf("nodes: %d", nodes)}
	for _, c := range a.columns() {
		titles = append(titles, c.Title)
	}
	if a.Base == "" {
		return append(titles, "ratio")
	}
	return append(titles, "ratio to the peer", "CPU relative to "+a.Base)
}

// line returns a line of a table.
func line(cells []string) string {
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// sentences says what was measured.
func (a *about) sentences() string {
	commits := a.Commit
	if a.Base != "" {
		commits += " and " + a.Base
	}
	return fmt.Sprintf("Quorate %s beside %s with etcd %s. Rounds: %d (mode %s), on %s: %s; load before: %s. "+
		"Medians, with the lowest and the highest of the rates. ConfigMaps of 1 KiB; the clients share 4 HTTP/2 connections a node. "+
		"An append with its sync took %.2f ms, a round trip on loopback %.3f ms (medians).",
		commits, a.KubeAPIServer, strings.TrimPrefix(a.Etcd, "etcd Version: "), a.Rounds, a.Mode,
		a.Began.Format("2006-01-02 15:04 UTC"), a.Machine, a.Load, a.Sync, a.RoundTrip)
}

// cell lists the medians of a system's figures, and how far the rounds are apart.
func (r *row) cell(s int) string {
	var parts []string
	for i := range r.Figures {
		f := &r.Figures[i]
		one := f.Of(s)
		if len(one.Samples) == 0 {
			continue
		}
		part := f.text(one.Median)
		if i == 0 && len(one.Samples) > 1 {
			part += fmt.Sprintf(" (%s to %s)", number(one.Low), number(one.High))
		}
		parts = append(parts, part)
	}
	if r.Errors != nil && r.Errors[s] != "" {
		parts = append(parts, "errors: "+strings.ReplaceAll(r.Errors[s], "|", "/"))
	}
	return strings.Join(parts, ", ")
}

// ratios lists how much better Quorate is, of rates and of CPU time.
func (r *row) ratios() string {
	var parts []string
	for i := range r.Figures {
		f := &r.Figures[i]
		if f.Ratio == 0 {
			continue
		}
		switch f.Name {
		case rate.name:
			parts = append(parts, fmt.Sprintf("%.1f", f.Ratio))
		case cpu.name, idleCPU.name:
			parts = append(parts, fmt.Sprintf("CPU %.1f", f.Ratio))
		}
	}
	return strings.Join(parts, ", ")
}

// cpuToBase returns Quorate's CPU time relative to that of the base; "" if one was not measured.
func (r *row) cpuToBase() string {
	for i := range r.Figures {
		f := &r.Figures[i]
		if f.BaseRatio > 0 && (f.Name == cpu.name || f.Name == idleCPU.name) {
			return fmt.Sprintf("%.2f", f.BaseRatio)
		}
	}
	return ""
}

// text formats a value with its unit, and its percentile.
func (f *figure) text(v float64) string {
	if _, percentile, found := strings.Cut(f.Name, "latency, "); found {
		return percentile + " " + f.value(v)
	}
	return f.value(v)
}

// value formats a value with its unit.
func (f *figure) value(v float64) string {
	if strings.HasPrefix(f.Unit, "/") {
		return number(v) + f.Unit
	}
	return number(v) + " " + f.Unit
}

// number formats a value with three digits or all of its integer part, in groups of three.
func number(v float64) string {
	switch {
	case v < 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	digits := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
