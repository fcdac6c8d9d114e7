package browser

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"quorate/chaos"
	"quorate/chaos/check"
	"quorate/chaos/htmlreport"
	"quorate/chaos/nemesis"
)

// benchReport is the report of a real run of make bench BENCH=quick.
const benchReport = "testdata/bench.html"

// TestReports: the page of operations shows a report of a chaos run and one of a benchmark as their
// files look when they are opened by themselves, and refuses other files.
func TestReports(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	p := newPage(t)
	for name, file := range map[string]string{"chaos": chaosReport(t), "bench": benchReport} {
		file, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		p.run(chromedp.Navigate("file://" + file))
		for _, scheme := range []string{"light", "dark"} {
			p.emulate(scheme)
			alone := eval[[]string](p, fmt.Sprintf(looks, "main"))
			p.openOperations(c)
			p.choose(file)
			p.await("the report", fmt.Sprintf("document.activeElement.ariaLabel === %q", "Report "+filepath.Base(file)))
			if shown := eval[[]string](p, fmt.Sprintf(looks, ".report")); !slices.Equal(shown, alone) {
				t.Errorf("%s, %s: the console shows %d elements, the file has %d: %s", name, scheme, len(shown), len(alone), firstDifference(shown, alone))
			}
			p.run(chromedp.Navigate("file://" + file))
		}
		p.emulate("light")
		p.openOperations(c)
		p.choose(file)
		p.await("the report", "document.querySelectorAll('.report svg').length > 0")
		if remarks := eval[string](p, "document.querySelector('.report-frame .notice')?.innerText ?? ''"); remarks != "" {
			t.Errorf("%s: the console remarks: %s", name, remarks)
		}
		p.check("report of " + name)
		p.run(chromedp.Evaluate("document.querySelector('.report-frame').scrollIntoView(); true", nil))
		p.shoot("report-" + name)
		p.run(chromedp.Click("#report-close"))
		p.await("the page without the report", "!document.querySelector('.report') && document.activeElement.id === 'report'")
	}

	other := filepath.Join(t.TempDir(), "notes.html")
	if err := os.WriteFile(other, []byte("<h1>Notes</h1>"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.choose(other)
	p.await("the refusal", "document.querySelector('[role=alert]')?.innerText.includes('The file is no report of quorate-chaos or of make bench.')")
	large := filepath.Join(t.TempDir(), "large.html")
	if err := errors.Join(os.WriteFile(large, nil, 0o600), os.Truncate(large, 33<<20)); err != nil {
		t.Fatal(err)
	}
	p.choose(large)
	p.await("the refusal of its size", "document.querySelector('[role=alert]')?.innerText.includes('large.html has 33.0 MiB, and a report at most 32.0 MiB.')")
}

// TestReportsOfFailures: the console has every element that a report of a broken run has, but for
// porcupine's drawings, which are scripts.
func TestReportsOfFailures(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	p := newPage(t)
	p.openOperations(c)
	p.choose(brokenReport(t))
	p.await("the report", has(`key-1: value "<script>" & more is gone`))
	p.await("what is left out", "document.querySelector('.report-frame .notice')?.innerText === "+
		"'Left out, since they contain scripts: Operations on key-1, drawn by porcupine. Open the file by itself to see them.'")
	p.check("report of a failure")
}

// TestHostileReport: nothing of a file runs, loads, leads elsewhere or changes how the page looks.
func TestHostileReport(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	p := newPage(t)
	p.openOperations(c)
	// As the page lets nothing load, a request would be a violation of its policy, which fails the test.
	p.choose("testdata/hostile.html")
	p.await("the report", has("The end of the hostile report"))
	if did := eval[string](p, "String(window.hostile)"); did != "undefined" {
		t.Errorf("the file ran: %s", did)
	}
	const forbidden = `[...document.querySelectorAll('.report, .report *')].flatMap((e) => [
		...['script', 'style', 'a', 'image', 'img', 'use', 'foreignObject', 'animate', 'set', 'iframe', 'object', 'embed', 'form', 'input', 'button',
			'textarea', 'link', 'meta', 'base', 'dialog', 'video'].filter((name) => name === e.localName),
		...e.getAttributeNames().filter((name) => !['class', 'viewBox', 'role', 'aria-label', 'tabindex', 'x', 'y', 'x1', 'x2', 'y1', 'y2', 'dx', 'dy',
			'width', 'height', 'rx', 'd', 'text-anchor', 'open'].includes(name)),
		...[...e.classList].filter((name) => ['notice', 'sign-in', 'unseen'].includes(name))])`
	if found := eval[[]string](p, forbidden); len(found) > 0 {
		t.Errorf("the page has %v of the file", found)
	}
	if shown := eval[int](p, "document.querySelectorAll('.report svg rect').length"); shown != 1 {
		t.Errorf("%d of the rectangles are shown, want the one with a size", shown)
	}
	p.await("what is left out", "/^\\d+ elements that no report has were left out\\.$/.test(document.querySelector('.report-frame .notice').innerText)")
	clickAll := `for (const e of document.querySelectorAll('.report *')) e.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true})); true`
	p.run(chromedp.Evaluate(clickAll, nil))
	if here := eval[string](p, "location.hash + String(window.hostile)"); here != "#/operationsundefined" {
		t.Errorf("after clicks everywhere the page is at %s", here)
	}
	for name, text := range map[string]string{
		"deep":  `<main class="report">` + strings.Repeat("<div>", 50),
		"large": `<main class="report">` + strings.Repeat("<b></b>", 400_001),
	} {
		file := filepath.Join(t.TempDir(), name+".html")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p.choose(file)
		p.await("the refusal of what is "+name, "document.querySelector('[role=alert]')?.innerText.startsWith('The file has more than')")
	}
	// Reading takes a time that is linear in the size: these would take hours.
	for name, part := range map[string]string{"comments": "<!--", "tags": "<a b='", "spaces": "<a          ", "styles": "<style><", "ends": "</b"} {
		file := filepath.Join(t.TempDir(), name+".html")
		if err := os.WriteFile(file, []byte(`<main class="report"><p>`+name+" shown</p>"+strings.Repeat(part, (8<<20)/len(part))), 0o600); err != nil {
			t.Fatal(err)
		}
		p.run(chromedp.Evaluate("document.querySelector('[role=alert]')?.remove(); true", nil))
		p.choose(file)
		p.await("the report of "+name, has(name+" shown")+" || document.querySelector('[role=alert]')?.innerText.startsWith('The file has more than')")
	}
}

// looks lists the elements of a report with their classes and how they look, as far as that does not
// depend on the width of the page.
const looks = `[...document.querySelectorAll('%s *')].map((e) => {
	const style = getComputedStyle(e);
	return [e.localName, e.getAttribute('class'), ...['color', 'backgroundColor', 'fill', 'fillOpacity', 'stroke', 'strokeWidth', 'strokeDasharray', 'fontSize',
		'fontWeight', 'fontFamily', 'textAlign', 'textAnchor', 'whiteSpace', 'display', 'marginTop', 'marginBottom', 'paddingTop', 'paddingLeft',
		'borderTopWidth', 'borderBottomWidth', 'borderRadius', 'overflowX', 'lineHeight', 'letterSpacing'].map((name) => style[name])].join(' ');
})`

func firstDifference(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("element %d\n%s\n%s", i, a[i], b[i])
		}
	}
	return "the shorter one is the beginning of the other"
}

func (p *page) openOperations(c *cluster) {
	p.t.Helper()
	console := c.Nodes()[0].API + "/console/"
	p.run(chromedp.Navigate(console))
	p.await("the console", "document.querySelector('#token') || !document.querySelector('#pages').hidden")
	if eval[bool](p, "document.querySelector('#pages').hidden") {
		p.signIn(console, c.credentials.Token)
	}
	p.open("#/operations")
	p.await("the choice of a report", "document.querySelector('#report')")
}

func (p *page) choose(file string) {
	p.t.Helper()
	file, err := filepath.Abs(file)
	if err != nil {
		p.t.Fatal(err)
	}
	p.run(chromedp.SetUploadFiles("#report", []string{file}))
}

// chaosReport returns the report of a real run: the leader is killed while clients write. A slow
// machine may break the bounds on outages; the report is then one of that.
func chaosReport(t *testing.T) (path string) {
	t.Helper()
	dir := t.TempDir()
	binary, path := filepath.Join(dir, "quorate-chaos"), filepath.Join(dir, "chaos.html")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", "../../..", "-o", binary, "./cmd/quorate-chaos")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build quorate-chaos: %v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), binary, "--faults", "kill-leader", "--clients", "40", "--plain", "--bound-scale", "10",
		"--binary", binaries.quorate, "--dir", filepath.Join(dir, "nodes"), "--report", path)
	out, err := run.CombinedOutput()
	if exit, is := errors.AsType[*exec.ExitError](err); err != nil && (!is || exit.ExitCode() != 1) {
		t.Fatalf("quorate-chaos: %v\n%s", err, out)
	}
	return path
}

// brokenReport returns the report of a run in which everything went wrong that a report can tell.
func brokenReport(t *testing.T) (path string) {
	t.Helper()
	began := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	phase := &chaos.PhaseReport{
		Phase: "mix", Seed: 8, Namespace: "chaos-1", Began: began, Seconds: 10, Planned: []string{"split", "loss"}, NotRecovered: "no leader for 2m0s",
		Injections: []nemesis.Record{{Fault: "split", Nodes: []string{"n1", "n3"}, At: began.Add(time.Second), Notes: []string{"a note"}}},
		Ended:      []nemesis.Ended{{Node: "n2", At: began, How: "exit status 1", Line: "panic: <nil>"}},
		Verdict: &check.Verdict{
			Linearizable: check.No, UndecidedKeys: []string{"key-2"}, Unjudged: 3,
			Findings: []check.Finding{{Promise: check.NoLoss, Count: 2, Samples: []string{`key-1: value "<script>" & more is gone`}}},
			Outages:  []check.Outage{{Service: check.Writes, From: 2 * time.Second, To: 4 * time.Second}},
			Refusals: []check.Refusal{{Service: check.Writes, Longest: 2 * time.Second, Allowed: time.Second}},
			Series:   check.Series{Interval: time.Second, Bins: []check.Bin{{Writes: 60, WriteP99: time.Millisecond}, {Failed: 3}, {Reads: 70}}},
		},
	}
	report := &htmlreport.Report{
		Report: &chaos.Report{
			Seed: 42, Began: began, Seconds: 12, Phases: []*chaos.PhaseReport{phase}, Incomplete: "the cluster did not recover",
			Unavailable: []nemesis.Unavailable{{Name: "clock-back", Why: "needs nodes whose clocks can be set"}},
		},
		Command:  "quorate-chaos --seed 42",
		Drawings: map[int][]htmlreport.Drawing{0: {{Name: "key-1", HTML: `<script>draw("</iframe></main>&amp;")</script>`}}},
	}
	path = filepath.Join(t.TempDir(), "broken.html")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(htmlreport.Write(file, report), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}
