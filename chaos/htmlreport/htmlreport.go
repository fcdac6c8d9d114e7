package htmlreport

import (
	"embed"
	"fmt"
	"io"
	"strings"
	"time"

	"quorate/chaos"
	"quorate/chaos/check"
	"quorate/chaos/history"
	"quorate/chaos/nemesis"
	"quorate/chaos/plot"
)

//go:embed report.tmpl
var files embed.FS

// Drawing is a page that porcupine wrote about the operations on one key.
type Drawing struct {
	Name string
	HTML string
}

// Report is what a page shows.
type Report struct {
	*chaos.Report
	// Command is the command line that made the run; "" if it is not known.
	Command string
	// Drawings are those of each phase, by the index of the phase.
	Drawings map[int][]Drawing
}

// Write writes the page.
func Write(w io.Writer, r *Report) error {
	page, err := plot.Templates().ParseFS(files, "report.tmpl")
	if err != nil {
		return err
	}
	return page.ExecuteTemplate(w, "report", newView(r))
}

// view is the data of the template.
type view struct {
	Title       string
	Badge       plot.Badge
	Seed        uint64
	Command     string
	Began       string
	Took        string
	Incomplete  string
	Figures     []figure
	Overview    *plot.Timeline
	Phases      []phaseView
	Promises    []promise
	Injected    string // names
	Missed      string
	Unavailable []nemesis.Unavailable
}

// figure is one number of the run.
type figure struct{ Value, Name string }

// promise is one promise with how often it was broken, in all phases.
type promise struct {
	Badge plot.Badge
	Name  string
	Count int
}

func newView(r *Report) *view {
	v := &view{
		Title: "Chaos run " + r.Began.UTC().Format("2006-01-02 15:04") + ": " + string(r.Outcome()),
		Badge: badge(r.Outcome()), Seed: r.Seed, Command: r.Command, Began: r.Began.UTC().Format("2006-01-02 15:04:05 UTC"),
		Took: short(time.Duration(r.Seconds * float64(time.Second))), Incomplete: r.Incomplete,
		Figures: figures(r.Report), Overview: overview(r.Report), Promises: promises(r.Report), Unavailable: r.Unavailable,
	}
	injected, missed := r.Injected()
	v.Injected, v.Missed = strings.Join(injected, ", "), strings.Join(missed, ", ")
	for i, p := range r.Phases {
		v.Phases = append(v.Phases, newPhaseView(p, r.Drawings[i], len(r.Phases)))
	}
	return v
}

// badge returns the badge of an outcome.
func badge(o chaos.Outcome) plot.Badge {
	switch o {
	case chaos.Held:
		return plot.Badge{Tone: plot.Good, Text: "held"}
	case chaos.Broken:
		return plot.Badge{Tone: plot.Bad, Text: "broken"}
	case chaos.Undecided:
		return plot.Badge{Tone: plot.Warn, Text: "undecided"}
	}
	return plot.Badge{Tone: plot.Quiet, Text: string(o)}
}

// figures returns the totals of the run.
func figures(r *chaos.Report) []figure {
	var operations, acknowledged, unknown, lost, delivered, violations, injections int
	var longest time.Duration
	for _, p := range r.Phases {
		injections += len(p.Injections)
		lost += p.Verdict.Lost
		delivered += p.Verdict.Delivered
		violations += p.Verdict.WatchViolations
		longest = max(longest, p.Verdict.LongestUnavailable)
		for kind, c := range p.Verdict.Workloads {
			operations += c.Operations
			if kind.IsWrite() {
				acknowledged += c.Acknowledged
				unknown += c.Unknown
			}
		}
		if m := p.Verdict.Mixture; m != nil {
			delivered += m.Events
			violations += m.Violations
		}
	}
	return []figure{
		{count(injections), "faults injected"},
		{count(operations), "operations judged"},
		{count(acknowledged), "writes acknowledged"},
		{count(lost), "of these lost"},
		{count(unknown), "of unknown outcome"},
		{count(delivered), "watch events judged"},
		{count(violations), "watch violations"},
		{short(longest), "longest without a write"},
	}
}

// promises returns all promises that were judged, in the order of the first verdict that has each.
func promises(r *chaos.Report) (all []promise) {
	index := map[check.Promise]int{}
	for _, p := range r.Phases {
		for _, f := range p.Verdict.Findings {
			i, known := index[f.Promise]
			if !known {
				i = len(all)
				index[f.Promise] = i
				all = append(all, promise{Name: string(f.Promise)})
			}
			all[i].Count += f.Count
		}
	}
	for i := range all {
		all[i].Badge = plot.Badge{Tone: plot.Good, Text: "held"}
		if n := all[i].Count; n > 0 {
			all[i].Badge = plot.Badge{Tone: plot.Bad, Text: fmt.Sprintf("broken %s", times(n))}
		}
	}
	return all
}

// workloads are the rows of a phase's table, with the kinds of operations in each.
var workloads = []struct {
	name  string
	kinds []history.Kind
}{
	{"creates, replaces, deletions", []history.Kind{history.Create, history.Replace, history.Delete}},
	{"quorum reads", []history.Kind{history.Get, history.List, history.PagedList}},
	{"cached reads", []history.Kind{history.CachedGet, history.CachedList}},
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return count(n) + " times"
}

// count formats a number with separators of thousands.
func count(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// short formats a duration with as many digits as a reader compares.
func short(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}
