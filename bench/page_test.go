package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPage checks that the report in HTML shows each row with its target, and a peer's measurements
// in place of those of targets.yaml.
func TestPage(t *testing.T) {
	t.Parallel()
	targets, err := readTargets()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	peers := filepath.Join(dir, "peer.jsonl")
	line := `{"label":"one","scenario":"create","kind":"configmaps","conc":32,"ops_per_s":1777,"server_cpu_us_per_op":901,"lat_ms":{"p50":17}}` + "\n"
	if err := os.WriteFile(peers, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	peer, err := readPeers(peers)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{scale: scales["quick"], began: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), measured: []measurement{
		{Label: "floor", Scenario: "get", Rate: 14050, CPU: 68},
		{Label: "one", Scenario: "create", Kind: "configmaps", Conc: 32, Rate: 5000, CPU: 100, Ops: 3000, Latency: latency{P50: 4.5, P99: 12}},
		{Label: "one", Scenario: "update", Conc: 32, Rate: 10, CPU: 100, Errors: map[string]int{"500": 3}},
		{Label: "capacity", Scenario: "capacity", Rate: 900, Procs: []process{{RSSMiB: 90}}},
	}}
	pace := pacesOf(targets, b.measured)
	path := filepath.Join(dir, "bench.html")
	if err := writePage(path, rowsOf(targets, b.measured, peer, pace, b.scale), b, pace, peers); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"quick run of 2026-11-21 12:00 UTC", "2.0 times slower", "1 met at this pace", "1 with errors",
		">per second, ≥ 8000/s<", ">5000/s<", ">1777/s<", ">901 µs<", ">20700/s<", "memory with 8000 pods", ">90 MiB<", ">4.50<", "errors map[500:3]",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	for _, not := range []string{">1620/s<", "1024 MiB", "<script", "://", "src="} {
		if strings.Contains(string(page), not) {
			t.Errorf("the page has %q", not)
		}
	}
}
