package main

import (
	_ "embed"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"quorate/bench/generator"
)

//go:embed targets.yaml
var targetsText []byte

// values are the numbers of a measurement that have targets; 0 for those that do not apply.
type values struct {
	Rate    float64 `json:"rate"`    // per second
	CPU     float64 `json:"cpu"`     // µs
	P50     float64 `json:"p50"`     // ms
	P99     float64 `json:"p99"`     // ms
	RSS     float64 `json:"rss"`     // MiB
	Seconds float64 `json:"seconds"` // s
}

// valuesOf returns the numbers of a measurement that may have targets.
func valuesOf(m *generator.Measurement) values {
	return values{Rate: m.Rate, CPU: m.CPU, P50: m.Latency.P50, P99: m.Latency.P99, RSS: m.RSS(), Seconds: m.Seconds}
}

// String lists the values that apply, with their units.
func (v values) String() string {
	var all []string
	for _, m := range metrics {
		if one := m.of(&v); one > 0 {
			all = append(all, m.text(one))
		}
	}
	return strings.Join(all, ", ")
}

// metric is one of the values.
type metric struct {
	name    string // for people, with the unit
	unit    string
	atLeast bool // whether more is better
	of      func(*values) float64
}

var metrics = [...]metric{
	{"per second", "/s", true, func(v *values) float64 { return v.Rate }},
	{"CPU of the servers per operation", " µs", false, func(v *values) float64 { return v.CPU }},
	{"latency, p50", " ms (p50)", false, func(v *values) float64 { return v.P50 }},
	{"latency, p99", " ms (p99)", false, func(v *values) float64 { return v.P99 }},
	{"memory", " MiB", false, func(v *values) float64 { return v.RSS }},
	{"time", " s", false, func(v *values) float64 { return v.Seconds }},
}

// text formats a value with its unit, with the digits that matter.
func (m metric) text(v float64) string {
	digits := 0
	switch {
	case m.unit == " s":
		digits = 2
	case strings.HasPrefix(m.unit, " ms"), m.atLeast && v < 100:
		digits = 1
	}
	return fmt.Sprintf("%.*f%s", digits, v, m.unit)
}

// qualifier returns what a unit says besides the unit itself, such as the percentile; "" for nothing.
func (m metric) qualifier() string {
	if i := strings.Index(m.unit, " ("); i >= 0 {
		return m.unit[i:]
	}
	return ""
}

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
	Peer  values `json:"peer"`
	Floor values `json:"floor"`
	Want  values `json:"want"` // the rate at least, the others at most
}

func readTargets() ([]target, error) {
	var targets []target
	if err := yaml.UnmarshalStrict(targetsText, &targets); err != nil {
		return nil, fmt.Errorf("read targets.yaml: %w", err)
	}
	return targets, nil
}

// find returns the first measurement of the target's work, or nil.
func (t *target) find(measured []generator.Measurement) *generator.Measurement {
	f := &t.Find
	for i := range measured {
		m := &measured[i]
		if m.Label == f.Label && m.Scenario == f.Scenario && (f.Variant == "" || m.Variant == f.Variant) &&
			(f.Kind == "" || m.Kind == f.Kind) && (f.Conc == 0 || m.Conc == f.Conc) {
			return m
		}
	}
	return nil
}

// comparable returns the values of a measurement for which the target has a bound.
func (t *target) comparable(m *generator.Measurement) values {
	v := valuesOf(m)
	keep := func(wanted float64, measured *float64) {
		if wanted == 0 {
			*measured = 0
		}
	}
	w := &t.Want
	keep(w.Rate, &v.Rate)
	keep(w.CPU, &v.CPU)
	keep(w.P50, &v.P50)
	keep(w.P99, &v.P99)
	keep(w.RSS, &v.RSS)
	keep(w.Seconds, &v.Seconds)
	return v
}

// figure is one number of a row: its target and its measurement.
type figure struct {
	metric
	wanted, measured float64
}

// figures returns the numbers of a measurement that have targets.
func (t *target) figures(m *generator.Measurement) (all []figure) {
	measured := valuesOf(m)
	for _, one := range metrics {
		if wanted := one.of(&t.Want); wanted > 0 {
			all = append(all, figure{one, wanted, one.of(&measured)})
		}
	}
	return all
}

// met reports whether the measurement meets its target. pace is the factor by which this machine is
// slower now than the one where the targets were set.
func (f figure) met(pace float64) bool {
	if f.atLeast {
		return f.measured*pace >= f.wanted
	}
	return f.measured <= f.wanted*pace && f.measured > 0
}

func (f figure) limit() string {
	if f.atLeast {
		return "≥ " + f.text(f.wanted)
	}
	return "≤ " + f.text(f.wanted)
}

// pace returns the slowdown by which this figure's target is scaled; 1 for memory and latencies.
func (f figure) pace(p paces) float64 {
	switch {
	case f.atLeast:
		return p.rate
	case f.unit == " µs":
		return p.cpu
	}
	return 1
}
