package main

import (
	"fmt"
	"slices"

	"quorate/bench/generator"
)

// results is what results.json has.
type results struct {
	About about `json:"about"`
	Rows  []row `json:"rows"`
}

// row is a kind of work, with the figures of all systems.
type row struct {
	Nodes   int      `json:"nodes"`
	Work    string   `json:"work"`
	Figures []figure `json:"figures"`
	Errors  []string `json:"errors,omitempty"` // of Quorate, the peer and the base, "" for none
}

// figure is one number of a row.
type figure struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Quorate summary `json:"quorate"`
	Peer    summary `json:"peer"`
	Base    summary `json:"base,omitzero"` // absent without -base
	// Ratio is how much better Quorate is: its rate divided by the peer's, or the peer's cost divided
	// by its own. It's 0 if one of them was not measured.
	Ratio float64 `json:"ratio"`
	// BaseRatio is Quorate's value divided by that of the base, of rates as of costs. It's 0 if one of
	// them was not measured.
	BaseRatio float64 `json:"base_ratio,omitzero"`
}

// Of returns the summary of a system.
func (f *figure) Of(s int) *summary {
	return [...]*summary{quorate: &f.Quorate, peer: &f.Peer, base: &f.Base}[s]
}

// summary describes the samples of one figure, one for each round.
type summary struct {
	Median  float64   `json:"median"`
	Low     float64   `json:"low"`
	High    float64   `json:"high"`
	Samples []float64 `json:"samples"`
}

// metric is a number that a measurement has.
type metric struct {
	name, unit string
	moreIsGood bool
	of         func(*generator.Measurement) float64
}

var (
	rate    = metric{"per second", "/s", true, func(m *generator.Measurement) float64 { return m.Rate }}
	cpu     = metric{"CPU of all servers per operation", "µs", false, func(m *generator.Measurement) float64 { return m.CPU }}
	p50     = metric{"latency, p50", "ms", false, func(m *generator.Measurement) float64 { return m.Latency.P50 }}
	p99     = metric{"latency, p99", "ms", false, func(m *generator.Measurement) float64 { return m.Latency.P99 }}
	idleCPU = metric{"CPU of all servers", "%", false, func(m *generator.Measurement) float64 { return m.CPU / 1e4 }}
	memory  = metric{"memory of all servers", "MiB", false, func(m *generator.Measurement) float64 { return m.RSS() }}
)

// works are the kinds of work in the order of the table. conc is 0 for any.
var works = []struct {
	name, scenario, variant string
	conc                    int
	metrics                 []metric
}{
	{"create, 32 clients", "create", "", 32, []metric{rate, cpu, p50, p99}},
	{"create, 300 clients", "create", "", 300, []metric{rate, cpu, p50, p99}},
	{"replace (get and put), 32", "update", "", 32, []metric{rate, cpu, p50, p99}},
	{"merge patch, 32", "patch", "", 32, []metric{rate, cpu, p50, p99}},
	{"get, quorum, any node, 32", "get", "quorum", 32, []metric{rate, cpu, p50, p99}},
	{"get, cached, 32", "get", "rv0", 32, []metric{rate, cpu, p50, p99, memory}},
	{"one client, one write after the other", "create", "", 1, []metric{rate, cpu, p50, p99}},
	{"idle, part of a core", "idle", "", 0, []metric{idleCPU}},
}

// resultsOf summarizes what was measured.
func resultsOf(a about, systems []*system) *results {
	r := &results{About: a}
	for _, count := range nodeCounts {
		for _, w := range works {
			label := count.label
			if w.scenario == "idle" {
				label = idleLabel(label)
			}
			found := make([][]generator.Measurement, len(systems))
			for s := range found {
				found[s] = slices.DeleteFunc(slices.Clone(systems[s].measured), func(one generator.Measurement) bool {
					return one.Label != label || one.Scenario != w.scenario || w.variant != "" && one.Variant != w.variant || w.conc != 0 && one.Conc != w.conc
				})
			}
			r.Rows = append(r.Rows, rowOf(count.nodes, w.name, w.metrics, found))
		}
	}
	return r
}

// rowOf compares what was found of each system.
func rowOf(nodes int, work string, metrics []metric, found [][]generator.Measurement) row {
	r := row{Nodes: nodes, Work: work, Errors: errorsOf(found)}
	for _, one := range metrics {
		f := figure{Name: one.name, Unit: one.unit}
		for s := range found {
			*f.Of(s) = summarize(one, found[s])
		}
		f.Ratio = quotient(f.Quorate.Median, f.Peer.Median)
		if !one.moreIsGood {
			f.Ratio = quotient(f.Peer.Median, f.Quorate.Median)
		}
		f.BaseRatio = quotient(f.Quorate.Median, f.Base.Median)
		r.Figures = append(r.Figures, f)
	}
	return r
}

// quotient divides medians. It's 0 if one of them was not measured.
func quotient(a, b float64) float64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	return a / b
}

// summarize returns the median of one figure, and its spread.
func summarize(one metric, found []generator.Measurement) summary {
	s := summary{Samples: []float64{}}
	for i := range found {
		s.Samples = append(s.Samples, one.of(&found[i]))
	}
	n := len(s.Samples)
	if n == 0 {
		return s
	}
	sorted := slices.Sorted(slices.Values(s.Samples))
	s.Low, s.High, s.Median = sorted[0], sorted[n-1], (sorted[(n-1)/2]+sorted[n/2])/2
	return s
}

// errorsOf describes the first operations of each system that failed; nil if none did.
func errorsOf(found [][]generator.Measurement) (all []string) {
	for s := range found {
		i := slices.IndexFunc(found[s], func(m generator.Measurement) bool { return len(m.Errors) > 0 })
		if i < 0 {
			continue
		}
		if all == nil {
			all = make([]string, len(found))
		}
		m := &found[s][i]
		all[s] = fmt.Sprintf("%v %.200s", m.Errors, m.Sample)
	}
	return all
}
