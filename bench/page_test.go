package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"quorate/bench/generator"
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
	b := &bench{scale: scales["quick"], began: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), measured: []generator.Measurement{
		{Label: "floor", Scenario: "get", Rate: 14050, CPU: 68},
		{Label: "one", Scenario: "create", Kind: "configmaps", Conc: 32, Rate: 5000, CPU: 100, Ops: 3000, Latency: generator.Latency{P50: 4.5, P99: 12}},
		{Label: "one", Scenario: "update", Conc: 32, Rate: 10, CPU: 100, Errors: map[string]int{"500": 3}},
		{Label: "capacity", Scenario: "capacity", Rate: 900, Procs: []generator.Process{{RSSMiB: 90}}},
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
	checkConsoleReport(t, string(page))
}

// consoleReport is the report of a real run by which the console is tested.
const consoleReport = "../apiserver/console/browser/testdata/bench.html"

// checkConsoleReport checks that the console is tested by a report like the pages that are written now.
func checkConsoleReport(t *testing.T, page string) {
	t.Helper()
	kept, err := os.ReadFile(consoleReport)
	if err != nil {
		t.Fatal(err)
	}
	style := regexp.MustCompile(`(?s)<style>.*</style>`)
	if style.FindString(string(kept)) != style.FindString(page) {
		t.Errorf("%s has other styles than the page: write it anew, by make bench BENCH=quick", consoleReport)
	}
	tag := regexp.MustCompile(`<[a-z]\w*( class="\w+)?`)
	now := tag.FindAllString(page, -1)
	for _, used := range tag.FindAllString(string(kept), -1) {
		if !slices.Contains(now, used) {
			t.Errorf("%s has %s, which the page has not: write it anew, by make bench BENCH=quick", consoleReport, used)
		}
	}
}
