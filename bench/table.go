package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"quorate/bench/generator"
)

// row is a target with its measurement.
type row struct {
	work    string
	peer    values // measured, if measurements of a peer were given, else those of targets.yaml
	floor   values
	figures []figure
	m       *generator.Measurement
	judged  bool // false for a target of a full run in a quick one
	verdict verdict
}

// verdict is the judgement on a row.
type verdict string

// The verdicts. Any other is an error.
const (
	met       verdict = "met"
	metAtPace verdict = "met at this pace"
	missed    verdict = "missed"
	unjudged  verdict = ""
)

// rowsOf returns a row for each target that was measured.
func rowsOf(targets []target, measured, peers []generator.Measurement, pace paces, s scale) (rows []row) {
	for i := range targets {
		t := &targets[i]
		m := t.find(measured)
		if m == nil {
			continue
		}
		r := row{
			work: strings.ReplaceAll(t.Work, "{pods}", strconv.Itoa(s.pods)), peer: t.Peer, floor: t.Floor,
			figures: t.figures(m), m: m, judged: !t.Full || s.name == "full",
		}
		if p := t.find(peers); p != nil {
			r.peer = t.comparable(p)
		}
		if r.judged {
			r.verdict = t.verdict(m, pace)
		} else {
			r.peer, r.floor = values{}, values{}
		}
		rows = append(rows, r)
	}
	return rows
}

func printTable(w io.Writer, rows []row, pace paces, s scale) {
	fmt.Fprintf(w, "\n%s run: Quorate beside its targets\n", s.name)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "work\tpeer\tfloor\ttarget\tQuorate\t")
	for i := range rows {
		rows[i].print(table)
	}
	table.Flush() // to the terminal: an error there can't be reported
	if text := pace.explain(); text != "" {
		fmt.Fprintln(w, text)
	}
}

func (r *row) print(w io.Writer) {
	var limits, measured []string
	for _, f := range r.figures {
		limits = append(limits, f.limit())
		measured = append(measured, f.text(f.measured))
	}
	if !r.judged {
		limits = nil
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.work, r.peer, r.floor, strings.Join(limits, ", "), strings.Join(measured, ", "), r.verdict)
}

// paces has the slowdown of this machine, measured with the bare server, for rates and for the CPU
// time of an operation; 1 if not measured.
type paces struct{ rate, cpu float64 }

func pacesOf(targets []target, measured []generator.Measurement) paces {
	for i := range targets {
		t := &targets[i]
		if t.Find.Label != "floor" || t.Find.Scenario != "get" {
			continue
		}
		if m := t.find(measured); m != nil && m.Rate > 0 {
			return paces{max(1, t.Want.Rate/m.Rate), max(1, m.CPU/t.Want.CPU)}
		}
	}
	return paces{1, 1}
}

// explain says how much slower the machine is; "" if it isn't.
func (p paces) explain() string {
	if p.rate <= 1 && p.cpu <= 1 {
		return ""
	}
	return fmt.Sprintf("a bare server is %.1f times slower on this machine now than where the targets were set, and takes %.1f times the CPU:\n"+
		"at this pace says that a target, stretched by these, is met", p.rate, p.cpu)
}

func (t *target) verdict(m *generator.Measurement, pace paces) verdict {
	if len(m.Errors) > 0 {
		return verdict(fmt.Sprintf("errors: %v %.80s", m.Errors, m.Sample))
	}
	for _, key := range []string{"lost", "dup", "out_of_order", "watchers_broken"} {
		if n, ok := m.Extra[key].(float64); ok && n > 0 {
			return verdict(fmt.Sprintf("%s: %.0f", key, n))
		}
	}
	if m.Label == "floor" {
		return unjudged // a bare server's row, which only calibrates the others
	}
	now, stretched := true, true
	for _, f := range t.figures(m) {
		now = now && f.met(1)
		stretched = stretched && f.met(f.pace(pace))
	}
	switch {
	case now:
		return met
	case stretched:
		return metAtPace
	}
	return missed
}
