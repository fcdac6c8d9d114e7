package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quorate/bench/generator"
)

// recorded returns results of three rounds, of which the second is the middle one for both.
func recorded() (*results, *measurer) {
	m := &measurer{done: 3}
	for i, factor := range []float64{0.9, 1, 1.2} {
		for s, base := range map[system]float64{quorate: 2000, peer: 500} {
			m.measured[s] = append(m.measured[s],
				generator.Measurement{Label: "three", Scenario: "create", Conc: 32, Rate: base * factor, CPU: 1e6 / base, Latency: generator.Latency{P50: float64(i) + 1.5}},
				generator.Measurement{Label: "three", Scenario: "create", Conc: 300, Rate: base * factor * 2, CPU: 1e6 / base, Latency: generator.Latency{P50: 3}},
				generator.Measurement{Label: "idle", Scenario: "idle", CPU: 1e7 / base},
			)
			m.raw[s] = append(m.raw[s], `{"label":"three"}`+"\n"...)
		}
	}
	m.measured[peer][1].Errors = map[string]int{"429": 3}
	a := about{Began: time.Date(2026, 11, 24, 4, 0, 0, 0, time.UTC), Commit: "abc", Etcd: "etcd Version: 3.7.3", KubeAPIServer: "Kubernetes v1.37.2", Rounds: 3, Mode: "full"}
	return resultsOf(a, m), m
}

func TestResultsHaveMediansSpreadAndRatios(t *testing.T) {
	t.Parallel()
	r, m := recorded()
	dir := t.TempDir()
	if err := writeResults(dir, r, m.raw); err != nil {
		t.Fatal(err)
	}
	text := read(t, dir, "results.md")
	for _, want := range []string{
		"Quorate abc beside Kubernetes v1.37.2 with etcd 3.7.3", "Rounds: 3 (mode full), on 2026-11-24 04:00 UTC",
		"| create, 32 clients | 500/s (450 to 600), 2,000 µs, p50 2.50 ms, p99 0.00 ms | 2,000/s (1,800 to 2,400), 500 µs, p50 2.50 ms, p99 0.00 ms | 4.0, CPU 4.0 |",
		"| create, 300 clients | 1,000/s (900 to 1,200), 2,000 µs, p50 3.00 ms, p99 0.00 ms, errors: map[429:3]",
		"| idle, part of a core | 2.00 % (2.00 to 2.00) | 0.50 % (0.50 to 0.50) | CPU 4.0 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	page := read(t, dir, "results.html")
	for _, want := range []string{"4.0 times", ">2,000/s<", ">500/s<", ">2.00 %<", "1,800 to 2,400", "errors: map[429:3]"} {
		if !strings.Contains(page, want) {
			t.Errorf("want %q in the page", want)
		}
	}
	for _, not := range []string{"<script", "src=", "NaN"} {
		if strings.Contains(page, not) {
			t.Errorf("the page has %q", not)
		}
	}
	var decoded results
	if err := json.Unmarshal([]byte(read(t, dir, "results.json")), &decoded); err != nil {
		t.Fatal(err)
	}
	if len(decoded.Rows) != len(nodeCounts)*len(works) {
		t.Errorf("got %d rows in results.json", len(decoded.Rows))
	}
	if lines := strings.Count(read(t, dir, "peer.jsonl"), "\n"); lines != 3 {
		t.Errorf("got %d lines in peer.jsonl, want 3", lines)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A ratio above 1 says that Quorate is better, for rates as for costs.
func TestRatiosSayWhoIsBetter(t *testing.T) {
	t.Parallel()
	better := generator.Measurement{Rate: 300, CPU: 50}
	worse := generator.Measurement{Rate: 100, CPU: 100}
	var found [systems][]generator.Measurement
	found[quorate], found[peer] = []generator.Measurement{better}, []generator.Measurement{worse}
	r := rowOf(1, "create", []metric{rate, cpu, memory}, found)
	if r.Figures[0].Ratio != 3 || r.Figures[1].Ratio != 2 || r.Figures[2].Ratio != 0 {
		t.Errorf("got %+v", r.Figures)
	}
}

// The module that builds the peer requires the pinned release, and of Kubernetes' staging modules
// the versions that belong to it.
func TestModuleFile(t *testing.T) {
	t.Parallel()
	var required goModule
	parsed := `{"Go": "1.26.0", "Replace": [
		{"Old": {"Path": "k8s.io/api"}, "New": {"Path": "./staging/src/k8s.io/api"}},
		{"Old": {"Path": "example.com/pinned"}, "New": {"Path": "example.com/fork", "Version": "v1.0.0"}}]}`
	if err := json.Unmarshal([]byte(parsed), &required); err != nil {
		t.Fatal(err)
	}
	text := moduleFile(kubernetesModule, "v1.37.2", required)
	if !strings.Contains(text, "require k8s.io/kubernetes v1.37.2\n") || !strings.Contains(text, "replace k8s.io/api => k8s.io/api v0.37.2\n") {
		t.Errorf("got\n%s", text)
	}
	if strings.Contains(text, "pinned") {
		t.Errorf("a replacement by a module is not a staging module:\n%s", text)
	}
	if text := moduleFile(etcdModule, etcdVersion, required); strings.Contains(text, "replace") {
		t.Errorf("etcd's modules are required by their versions:\n%s", text)
	}
}
