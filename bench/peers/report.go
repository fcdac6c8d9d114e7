package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// writeResults prints the results, and writes them to a folder in all forms.
func writeResults(dir string, r *results, raw [systems][]byte) error {
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
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "results.json"), append(encoded, '\n'), 0o644),
		os.WriteFile(filepath.Join(dir, "results.md"), []byte(text), 0o644),
		os.WriteFile(filepath.Join(dir, "results.html"), page, 0o644),
		os.WriteFile(filepath.Join(dir, quorate.String()+".jsonl"), raw[quorate], 0o644),
		os.WriteFile(filepath.Join(dir, peer.String()+".jsonl"), raw[peer], 0o644),
	)
}

// markdown returns the results as tables, one for each number of nodes.
func markdown(r *results) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n", r.About.sentences())
	nodes := 0
	for i := range r.Rows {
		one := &r.Rows[i]
		if one.Nodes != nodes {
			nodes = one.Nodes
			fmt.Fprintf(&text, "\n| nodes: %d | peer | Quorate | ratio |\n|---|---|---|---|\n", nodes)
		}
		fmt.Fprintf(&text, "| %s | %s | %s | %s |\n", one.Work,
			one.cell(peer, func(f *figure) *summary { return &f.Peer }), one.cell(quorate, func(f *figure) *summary { return &f.Quorate }), one.ratios())
	}
	return text.String()
}

// sentences says what was measured.
func (a *about) sentences() string {
	return fmt.Sprintf("Quorate %s beside %s with etcd %s. Rounds: %d (mode %s), on %s: %s; load before: %s. "+
		"Medians, with the lowest and the highest of the rates. ConfigMaps of 1 KiB; the clients share 4 HTTP/2 connections a node. "+
		"An append with its sync took %.2f ms, a round trip on loopback %.3f ms (medians).",
		a.Commit, a.KubeAPIServer, strings.TrimPrefix(a.Etcd, "etcd Version: "), a.Rounds, a.Mode,
		a.Began.Format("2006-01-02 15:04 UTC"), a.Machine, a.Load, a.Sync, a.RoundTrip)
}

// cell lists the medians of a system's figures, and how far the rounds are apart.
func (r *row) cell(s system, of func(*figure) *summary) string {
	var parts []string
	for i := range r.Figures {
		f := &r.Figures[i]
		one := of(f)
		if len(one.Samples) == 0 {
			continue
		}
		part := f.text(one.Median)
		if i == 0 && len(one.Samples) > 1 {
			part += fmt.Sprintf(" (%s to %s)", number(one.Low), number(one.High))
		}
		parts = append(parts, part)
	}
	if r.Errors[s] != "" {
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
