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

// recorded returns results of three rounds, of which the second is the middle one for all systems.
// Without a commit of an older build there is no base.
func recorded(old string) (*results, []*system) {
	systems := systemsOf(binaries{}, baseBuild{commit: old, binary: old})
	for s, steady := range []float64{quorate: 2000, peer: 500, base: 1600}[:len(systems)] {
		one := systems[s]
		for i, factor := range []float64{0.9, 1, 1.2} {
			one.measured = append(one.measured,
				generator.Measurement{Label: "three", Scenario: "create", Conc: 32, Rate: steady * factor, CPU: 1e6 / steady, Latency: generator.Latency{P50: float64(i) + 1.5}},
				generator.Measurement{Label: "three", Scenario: "create", Conc: 300, Rate: steady * factor * 2, CPU: 1e6 / steady, Latency: generator.Latency{P50: 3}},
				generator.Measurement{Label: "idle", Scenario: "idle", CPU: 1e7 / steady},
			)
			one.raw = append(one.raw, `{"label":"three"}`+"\n"...)
		}
	}
	systems[peer].measured[1].Errors = map[string]int{"429": 3}
	a := about{
		Began: time.Date(2026, 11, 24, 4, 0, 0, 0, time.UTC), Commit: "abc", Base: old, Etcd: "etcd Version: 3.7.3",
		KubeAPIServer: "Kubernetes v1.37.2", Rounds: 3, Mode: "full",
	}
	return resultsOf(a, systems), systems
}

// written returns the folder of the results of recorded.
func written(t *testing.T, old string) string {
	t.Helper()
	r, systems := recorded(old)
	dir := t.TempDir()
	if err := writeResults(dir, r, systems); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestResultsHaveMediansSpreadAndRatios(t *testing.T) {
	t.Parallel()
	dir := written(t, "")
	has(t, read(t, dir, "results.md"),
		"Quorate abc beside Kubernetes v1.37.2 with etcd 3.7.3", "Rounds: 3 (mode full), on 2026-11-24 04:00 UTC",
		"\n| nodes: 3 | peer | Quorate | ratio |\n|---|---|---|---|\n",
		"| create, 32 clients | 500/s (450 to 600), 2,000 µs, p50 2.50 ms, p99 0.00 ms | 2,000/s (1,800 to 2,400), 500 µs, p50 2.50 ms, p99 0.00 ms | 4.0, CPU 4.0 |\n",
		"| create, 300 clients | 1,000/s (900 to 1,200), 2,000 µs, p50 3.00 ms, p99 0.00 ms, errors: map[429:3]",
		"| idle, part of a core | 2.00 % (2.00 to 2.00) | 0.50 % (0.50 to 0.50) | CPU 4.0 |\n",
	)
	page := read(t, dir, "results.html")
	has(t, page, "4.0 times", ">2,000/s<", ">500/s<", ">2.00 %<", "1,800 to 2,400", "errors: map[429:3]",
		`<th class="n">Quorate</th><th class="n">spread</th><th class="n">peer</th><th class="n">spread</th><th class="n">ratio</th></tr>`)
	hasNot(t, page, "<script", "src=", "NaN", "relative to")
	encoded := read(t, dir, "results.json")
	has(t, encoded, `"errors": [`+"\n        \"\",\n        \"map[429:3] \"\n      ]")
	hasNot(t, encoded, `"base`)
	var decoded results
	if err := json.Unmarshal([]byte(encoded), &decoded); err != nil {
		t.Fatal(err)
	}
	if len(decoded.Rows) != len(nodeCounts)*len(works) {
		t.Errorf("got %d rows in results.json", len(decoded.Rows))
	}
	if lines := strings.Count(read(t, dir, "peer.jsonl"), "\n"); lines != 3 {
		t.Errorf("got %d lines in peer.jsonl, want 3", lines)
	}
	if _, err := os.Stat(filepath.Join(dir, "base.jsonl")); !os.IsNotExist(err) {
		t.Errorf("base.jsonl: got %v, want no such file", err)
	}
}

func TestResultsHaveTheBase(t *testing.T) {
	t.Parallel()
	dir := written(t, "9b88031")
	has(t, read(t, dir, "results.md"),
		"Quorate abc and 9b88031 beside Kubernetes v1.37.2 with etcd 3.7.3",
		"\n| nodes: 3 | peer | Quorate at 9b88031 | Quorate | ratio to the peer | CPU relative to 9b88031 |\n|---|---|---|---|---|---|\n",
		"| create, 32 clients | 500/s (450 to 600), 2,000 µs, p50 2.50 ms, p99 0.00 ms | 1,600/s (1,440 to 1,920), 625 µs, p50 2.50 ms, p99 0.00 ms | "+
			"2,000/s (1,800 to 2,400), 500 µs, p50 2.50 ms, p99 0.00 ms | 4.0, CPU 4.0 | 0.80 |\n",
		"| merge patch, 32 |  |  |  |  |  |\n",
		"| idle, part of a core | 2.00 % (2.00 to 2.00) | 0.62 % (0.62 to 0.62) | 0.50 % (0.50 to 0.50) | CPU 4.0 | 0.80 |\n",
	)
	page := read(t, dir, "results.html")
	has(t, page, ">9b88031</text>", ">1,600/s<",
		`<th class="n">Quorate</th><th class="n">spread</th><th class="n">Quorate at 9b88031</th><th class="n">spread</th><th class="n">peer</th><th class="n">spread</th>`+
			`<th class="n">ratio</th><th class="n">relative to 9b88031</th></tr>`,
		`<td class="n">2,000</td><td class="n">1,800 to 2,400</td><td class="n">1,600</td><td class="n">1,440 to 1,920</td><td class="n">500</td><td class="n">450 to 600</td>`+
			`<td class="n">4.00</td><td class="n">1.25</td></tr>`)
	var decoded results
	if err := json.Unmarshal([]byte(read(t, dir, "results.json")), &decoded); err != nil {
		t.Fatal(err)
	}
	if decoded.About.Base != "9b88031" {
		t.Errorf("got base %q in results.json", decoded.About.Base)
	}
	if lines := strings.Count(read(t, dir, "base.jsonl"), "\n"); lines != 3 {
		t.Errorf("got %d lines in base.jsonl, want 3", lines)
	}
}

func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("want %q in\n%s", part, text)
		}
	}
}

func hasNot(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("want no %q in\n%s", part, text)
		}
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

// A ratio above 1 says that Quorate is better than the peer, for rates as for costs. The ratio to
// the base is that of the values.
func TestRatiosSayWhoIsBetter(t *testing.T) {
	t.Parallel()
	better := []generator.Measurement{{Rate: 300, CPU: 50}}
	worse := []generator.Measurement{{Rate: 100, CPU: 100}}
	for name, tc := range map[string]struct {
		found              [][]generator.Measurement
		ratios, baseRatios [3]float64 // of the rate, the CPU time and the memory
	}{
		"without a base": {[][]generator.Measurement{quorate: better, peer: worse}, [3]float64{3, 2, 0}, [3]float64{}},
		"with a base":    {[][]generator.Measurement{quorate: better, peer: worse, base: worse}, [3]float64{3, 2, 0}, [3]float64{3, 0.5, 0}},
		"worse":          {[][]generator.Measurement{quorate: worse, peer: better, base: better}, [3]float64{1.0 / 3, 0.5, 0}, [3]float64{1.0 / 3, 2, 0}},
		"without a peer": {[][]generator.Measurement{quorate: better, peer: nil, base: better}, [3]float64{}, [3]float64{1, 1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rowOf(1, "create", []metric{rate, cpu, memory}, tc.found)
			for i, f := range r.Figures {
				if f.Ratio != tc.ratios[i] || f.BaseRatio != tc.baseRatios[i] {
					t.Errorf("%s: got %v to the peer and %v to the base, want %v and %v", f.Name, f.Ratio, f.BaseRatio, tc.ratios[i], tc.baseRatios[i])
				}
			}
		})
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
