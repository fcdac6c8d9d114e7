package htmlreport_test

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"quorate/chaos"
	"quorate/chaos/check"
	"quorate/chaos/history"
	"quorate/chaos/htmlreport"
	"quorate/chaos/nemesis"
)

// run returns the report of a run with a phase that held and one that did not.
func run() *chaos.Report {
	began := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	held := &chaos.PhaseReport{
		Phase: "kill-leader", Seed: 7, Began: began.Add(time.Second), Seconds: 20, Planned: []string{"kill-leader"},
		Injections: []nemesis.Record{{
			Fault: "kill-leader", Nodes: []string{"n2"}, At: began.Add(3 * time.Second), Healed: began.Add(6 * time.Second), Notes: []string{"led term 4"},
		}},
		Verdict: &check.Verdict{
			Linearizable: check.Yes, Findings: []check.Finding{{Promise: check.NoLoss}},
			Workloads:          map[history.Kind]check.Counts{history.Create: {Operations: 1200, Acknowledged: 1100, Rejected: 90, Unknown: 10}},
			LongestUnavailable: 2 * time.Second,
			Refusals:           []check.Refusal{{Service: check.Writes, Longest: 2 * time.Second, Allowed: 12 * time.Second}},
			Outages:            []check.Outage{{Service: check.Writes, From: 2 * time.Second, To: 4 * time.Second}},
			Series: check.Series{Interval: time.Second, Bins: []check.Bin{
				{Writes: 60, Reads: 90, WriteP99: 9 * time.Millisecond, ReadP99: time.Millisecond}, {Failed: 3}, {Writes: 70, WriteP99: time.Second},
			}},
		},
	}
	broken := &chaos.PhaseReport{
		Phase: "mix", Seed: 8, Namespace: "chaos-1", Began: began.Add(30 * time.Second), Seconds: 10, Planned: []string{"split", "loss"},
		Injections: []nemesis.Record{{Fault: "split", Nodes: []string{"n1", "n3"}, At: began.Add(31 * time.Second)}},
		Verdict: &check.Verdict{
			Linearizable: check.No,
			Findings:     []check.Finding{{Promise: check.NoLoss, Count: 2, Samples: []string{`key-1: value "<script>" is gone`}}},
		},
	}
	return &chaos.Report{
		Seed: 42, Began: began, Seconds: 40, Phases: []*chaos.PhaseReport{held, broken},
		Unavailable: []nemesis.Unavailable{{Name: "clock-back", Why: "needs nodes whose clocks can be set"}},
	}
}

// TestPage checks that the page shows what the report holds.
func TestPage(t *testing.T) {
	t.Parallel()
	const drawing = `<script>draw("</iframe>&amp;")</script>`
	page := parse(t, &htmlreport.Report{
		Report: run(), Command: "quorate-chaos --seed 42", Drawings: map[int][]htmlreport.Drawing{1: {{Name: "key-1", HTML: drawing}}},
	})
	text := textOf(page)
	for _, want := range []string{
		"✗ broken", "✓ held", "seed 42", "quorate-chaos --seed 42", "2 faults injected", "1,200 operations judged", "2s longest without a write",
		"acknowledged writes are kept: 2", `key-1: value "<script>" is gone`, "kill-leader at 2s, healed after 3s: n2",
		"split at 1s, not healed: n1, n3", "writes: nothing served from 2s for 2s", "kill-leader: led term 4", "Injected: kill-leader, split.",
		"because there was no target or no time: loss.", "clock-back: needs nodes", "namespace chaos-1",
		"broken 2 times", "0:00 writes 9 ms reads 1 ms", "0:00 writes 60 reads 90 refused or unknown 0",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	frames := all(page, "iframe")
	if len(frames) != 1 || attribute(frames[0], "sandbox") != "allow-scripts" || attribute(frames[0], "srcdoc") != drawing {
		t.Errorf("the drawing is not in a sandbox of its own, as it is: %v", frames)
	}
	if scripts := all(page, "script"); len(scripts) != 0 {
		t.Errorf("the page has %d scripts of its own", len(scripts))
	}
	for _, name := range []string{"src", "href"} {
		for n := range page.Descendants() {
			if value := attribute(n, name); value != "" {
				t.Errorf("the page fetches %s", value)
			}
		}
	}
}

// TestPageOfNothing: a run that did not come to its first phase has a page that says so.
func TestPageOfNothing(t *testing.T) {
	t.Parallel()
	page := parse(t, &htmlreport.Report{Report: &chaos.Report{Incomplete: "no node answered"}})
	if text := textOf(page); !strings.Contains(text, "incomplete no node answered") || !strings.Contains(text, "No phase was run.") {
		t.Errorf("the page says\n%s", text)
	}
}

func parse(t *testing.T, r *htmlreport.Report) *html.Node {
	t.Helper()
	var out strings.Builder
	if err := htmlreport.Write(&out, r); err != nil {
		t.Fatal(err)
	}
	page, err := html.Parse(strings.NewReader(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// textOf returns all text of a page, with single spaces, but for styles.
func textOf(page *html.Node) string {
	var words []string
	for n := range page.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "style" {
			words = append(words, n.Data)
		}
	}
	text := strings.Join(strings.Fields(strings.Join(words, " ")), " ")
	return strings.NewReplacer(" .", ".", " :", ":").Replace(text)
}

func all(page *html.Node, name string) (found []*html.Node) {
	for n := range page.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			found = append(found, n)
		}
	}
	return found
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
