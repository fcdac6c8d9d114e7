package main

import (
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"sigs.k8s.io/yaml"
)

//go:embed targets.yaml
var targetsText []byte

// target is one row of targets.yaml.
type target struct {
	Work string `json:"work"`
	Find struct {
		Label    string `json:"label"`
		Scenario string `json:"scenario"`
		Variant  string `json:"variant"`
		Kind     string `json:"kind"`
		Conc     int    `json:"conc"`
	} `json:"find"`
	// Full is set if peer, floor and target hold for the scale of a full run alone. A quick run
	// shows what it measured, and no verdict.
	Full  bool   `json:"full"`
	Peer  string `json:"peer"`
	Floor string `json:"floor"`
	Want  struct {
		Rate    float64 `json:"rate"`    // at least, per second
		CPU     float64 `json:"cpu"`     // µs
		P50     float64 `json:"p50"`     // ms
		P99     float64 `json:"p99"`     // ms
		RSS     float64 `json:"rss"`     // MiB
		Seconds float64 `json:"seconds"` // s
	} `json:"want"`
}

func readTargets() ([]target, error) {
	var targets []target
	if err := yaml.UnmarshalStrict(targetsText, &targets); err != nil {
		return nil, fmt.Errorf("read targets.yaml: %w", err)
	}
	return targets, nil
}

func (t *target) matches(m *measurement) bool {
	f := &t.Find
	return m.Label == f.Label && m.Scenario == f.Scenario && (f.Variant == "" || m.Variant == f.Variant) &&
		(f.Kind == "" || m.Kind == f.Kind) && (f.Conc == 0 || m.Conc == f.Conc)
}

// figure is one number of a row: its target and its measurement.
type figure struct {
	wanted, measured float64
	format           string
	atLeast          bool
}

// met reports whether the measurement meets its target. pace is the factor by which this machine is
// slower now than the one where the targets were set.
func (f figure) met(pace float64) bool {
	if f.atLeast {
		return f.measured*pace >= f.wanted
	}
	return f.measured <= f.wanted*pace && f.measured > 0
}

// paces has the slowdown of this machine, measured with the bare server, for rates and for the CPU
// time of an operation; 1 if not measured.
type paces struct{ rate, cpu float64 }

func pacesOf(targets []target, measured []measurement) paces {
	p := paces{1, 1}
	for i := range targets {
		for j := range measured {
			if t, m := &targets[i], &measured[j]; t.Find.Label == "floor" && t.Find.Scenario == "get" && t.matches(m) && m.Rate > 0 {
				p = paces{max(1, t.Want.Rate/m.Rate), max(1, m.CPU/t.Want.CPU)}
			}
		}
	}
	return p
}

func (f figure) limit() string {
	if f.atLeast {
		return "≥ " + fmt.Sprintf(f.format, f.wanted)
	}
	return "≤ " + fmt.Sprintf(f.format, f.wanted)
}

func (t *target) figures(m *measurement) []figure {
	var all []figure
	add := func(wanted, measured float64, format string, atLeast bool) {
		if wanted > 0 {
			all = append(all, figure{wanted, measured, format, atLeast})
		}
	}
	rate := "%.0f/s"
	if t.Want.Rate < 100 {
		rate = "%.1f/s"
	}
	add(t.Want.Rate, m.Rate, rate, true)
	add(t.Want.CPU, m.CPU, "%.0f µs", false)
	add(t.Want.P50, m.Latency.P50, "%.1f ms (p50)", false)
	add(t.Want.P99, m.Latency.P99, "%.1f ms (p99)", false)
	add(t.Want.RSS, rss(m), "%.0f MiB", false)
	add(t.Want.Seconds, m.Seconds, "%.2f s", false)
	return all
}

func rss(m *measurement) float64 {
	sum := 0.0
	for _, p := range m.Procs {
		sum += p.RSSMiB
	}
	return sum
}

func printTable(w io.Writer, targets []target, measured []measurement, s scale) {
	pace := pacesOf(targets, measured)
	fmt.Fprintf(w, "\n%s run: Quorate beside its targets\n", s.name)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "work\tpeer\tfloor\ttarget\tQuorate\t")
	for i := range targets {
		t := &targets[i]
		for j := range measured {
			if t.matches(&measured[j]) {
				t.print(table, &measured[j], pace, s)
				break
			}
		}
	}
	table.Flush() // to the terminal: an error there can't be reported
	if pace.rate > 1 || pace.cpu > 1 {
		fmt.Fprintf(w, "a bare server is %.1f times slower on this machine now than where the targets were set, and takes %.1f times the CPU:\n"+
			"at this pace says that a target, stretched by these, is met\n", pace.rate, pace.cpu)
	}
}

func (t *target) print(w io.Writer, m *measurement, pace paces, s scale) {
	var limits, values []string
	for _, f := range t.figures(m) {
		limits = append(limits, f.limit())
		values = append(values, fmt.Sprintf(f.format, f.measured))
	}
	work := strings.ReplaceAll(t.Work, "{pods}", strconv.Itoa(s.pods))
	measured := strings.Join(values, ", ")
	if t.Full && s.name != "full" {
		fmt.Fprintf(w, "%s\t\t\t\t%s\t\n", work, measured)
		return
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", work, t.Peer, t.Floor, strings.Join(limits, ", "), measured, t.verdict(m, pace))
}

func (t *target) verdict(m *measurement, pace paces) string {
	if len(m.Errors) > 0 {
		return fmt.Sprintf("errors: %v %.80s", m.Errors, m.Sample)
	}
	for _, key := range []string{"lost", "dup", "out_of_order", "watchers_broken"} {
		if n, ok := m.Extra[key].(float64); ok && n > 0 {
			return fmt.Sprintf("%s: %.0f", key, n)
		}
	}
	if m.Label == "floor" {
		return "" // a bare server's row, which only calibrates the others
	}
	met, stretched := true, true
	for _, f := range t.figures(m) {
		met = met && f.met(1)
		stretched = stretched && f.met(f.pace(pace))
	}
	switch {
	case met:
		return "met"
	case stretched:
		return "met at this pace"
	}
	return "missed"
}

// pace returns the slowdown by which this figure's target is scaled; 1 for memory and latencies.
func (f figure) pace(p paces) float64 {
	switch {
	case f.atLeast:
		return p.rate
	case strings.HasSuffix(f.format, "µs"):
		return p.cpu
	}
	return 1
}
