package htmlreport

import (
	"fmt"
	"math"
	"strings"
	"time"

	"quorate/chaos"
	"quorate/chaos/check"
	"quorate/chaos/nemesis"
	"quorate/chaos/plot"
)

// maxOpen is the number of phases up to which all are shown unfolded; of more, those that did not
// hold.
const maxOpen = 4

// phaseView is the part of a page about one phase.
type phaseView struct {
	Name         string
	Badge        plot.Badge
	Summary      string
	Open         bool
	Timeline     *plot.Timeline
	NotRecovered string
	Ended        []nemesis.Ended
	Broken       []check.Finding
	Undecided    string // keys
	Unjudged     int
	Problems     []string
	Drawings     []Drawing
	Workloads    []workloadRow
	Refusals     []refusalRow
	Notes        []string // of injections
	Namespace    string   // where the objects of a phase that did not hold are
	Seed         uint64
}

// workloadRow counts the operations of a workload.
type workloadRow struct {
	Name                                                 string
	Operations, Acknowledged, Rejected, Refused, Unknown string
}

// refusalRow is the longest outage of a service.
type refusalRow struct{ Service, Longest, Allowed string }

func newPhaseView(p *chaos.PhaseReport, drawings []Drawing, phases int) phaseView {
	v := phaseView{
		Name: p.Phase, Badge: badge(p.Outcome()), Open: phases <= maxOpen || !p.OK(), Timeline: phaseTimeline(p),
		NotRecovered: p.NotRecovered, Ended: p.Ended, Undecided: strings.Join(p.Verdict.UndecidedKeys, " "), Unjudged: p.Verdict.Unjudged,
		Problems: p.Verdict.Problems, Drawings: drawings, Seed: p.Seed,
		Summary: fmt.Sprintf("%.0f s, %s", p.Seconds, plural(len(p.Injections), "injection")),
	}
	if !p.OK() {
		v.Namespace = p.Namespace
	}
	for f := range p.Broken() {
		v.Broken = append(v.Broken, f)
	}
	if p.Idle != nil {
		v.Summary += fmt.Sprintf(", %s while nobody writes, %s excused by them", plural(p.Idle.Reads, "read"), count(p.Idle.Excused))
	} else {
		v.Workloads = workloadRows(p.Verdict)
	}
	for _, r := range p.Verdict.Refusals {
		v.Refusals = append(v.Refusals, refusalRow{check.Outage{Service: r.Service, Node: r.Node}.String(), short(r.Longest), short(r.Allowed)})
	}
	for _, s := range p.Injections {
		if len(s.Notes) > 0 {
			v.Notes = append(v.Notes, fmt.Sprintf("%s %s: %s", offset(s.At.Sub(p.Began)), s.Fault, strings.Join(s.Notes, "; ")))
		}
	}
	return v
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

func workloadRows(v *check.Verdict) (rows []workloadRow) {
	for _, w := range workloads {
		var sum check.Counts
		for _, kind := range w.kinds {
			c := v.Workloads[kind]
			sum.Operations += c.Operations
			sum.Acknowledged += c.Acknowledged
			sum.Rejected += c.Rejected
			sum.Unavailable += c.Unavailable
			sum.Unknown += c.Unknown
		}
		if sum.Operations > 0 {
			rows = append(rows, workloadRow{
				w.name, count(sum.Operations), count(sum.Acknowledged), count(sum.Rejected), count(sum.Unavailable), count(sum.Unknown),
			})
		}
	}
	return rows
}

// phaseTimeline shows the faults of a phase against what clients noticed.
func phaseTimeline(p *chaos.PhaseReport) *plot.Timeline {
	s := p.Verdict.Series
	length := time.Duration(len(s.Bins)) * s.Interval
	for _, in := range p.Injections {
		length = max(length, ended(in).Sub(p.Began))
	}
	t := &plot.Timeline{Title: "Faults, throughput, latency and outages of phase " + p.Phase, Length: length}
	if lanes := faultLanes(p, length); len(lanes) > 0 {
		t.Panels = append(t.Panels, plot.Panel{Title: "faults, with the nodes affected", Lanes: lanes})
	}
	t.Panels = append(t.Panels, throughput(s, p.Idle == nil), latency(s, p.Idle == nil))
	if lanes := outageLanes(p.Verdict); len(lanes) > 0 {
		t.Panels = append(t.Panels, plot.Panel{Title: "nothing served for 0.5 s or longer", Lanes: lanes})
	}
	return t
}

// ended returns when the effects of an injection ended, as far as that is known.
func ended(in nemesis.Record) time.Time {
	if in.Healed.IsZero() {
		return in.At
	}
	return in.Healed
}

// faultLanes returns a lane for each injection, in the order in which they began.
func faultLanes(p *chaos.PhaseReport, length time.Duration) (lanes []plot.Lane) {
	for _, in := range p.Injections {
		from, to := in.At.Sub(p.Began), ended(in).Sub(p.Began)
		took := "healed after " + short(to-from)
		if in.Healed.IsZero() {
			to, took = length, "not healed"
		}
		detail := fmt.Sprintf("%s at %s, %s", in.Fault, offset(from), took)
		if len(in.Nodes) > 0 {
			detail += ": " + strings.Join(in.Nodes, ", ")
		}
		lanes = append(lanes, plot.Lane{Name: in.Fault, Spans: []plot.Span{{
			From: from, To: to, Tone: plot.Quiet, Label: strings.Join(in.Nodes, ", "), Detail: detail,
		}}})
	}
	return lanes
}

// outageLanes returns a lane for each service that had an outage.
func outageLanes(v *check.Verdict) (lanes []plot.Lane) {
	index := map[string]int{}
	for _, o := range v.Outages {
		i, known := index[o.String()]
		if !known {
			i = len(lanes)
			index[o.String()] = i
			lanes = append(lanes, plot.Lane{Name: o.String()})
		}
		lanes[i].Spans = append(lanes[i].Spans, plot.Span{
			From: o.From, To: o.To, Tone: plot.Bad, Detail: fmt.Sprintf("%s: nothing served from %s for %s", o, offset(o.From), short(o.Length())),
		})
	}
	return lanes
}

// throughput shows what was served, and what was not, in a second.
func throughput(s check.Series, writes bool) plot.Panel {
	perSecond := func(name string, tone plot.Tone, of func(check.Bin) int) plot.Line {
		return line(s, name, tone, func(b check.Bin) float64 { return float64(of(b)) / s.Interval.Seconds() })
	}
	p := plot.Panel{Title: "throughput, per second", Value: func(v float64) string { return fmt.Sprintf("%.3g", v) }}
	if writes {
		p.Lines = append(p.Lines, perSecond("writes", plot.First, func(b check.Bin) int { return b.Writes }))
	}
	p.Lines = append(p.Lines, perSecond("reads", plot.Second, func(b check.Bin) int { return b.Reads }),
		perSecond("refused or unknown", plot.Quiet, func(b check.Bin) int { return b.Failed }))
	return p
}

// latency shows the slowest responses of each second.
func latency(s check.Series, writes bool) plot.Panel {
	took := func(name string, tone plot.Tone, of func(check.Bin) time.Duration) plot.Line {
		return line(s, name, tone, func(b check.Bin) float64 {
			if of(b) == 0 {
				return math.NaN()
			}
			return of(b).Seconds() * 1000
		})
	}
	p := plot.Panel{Title: "latency, p99", Log: true, Value: milliseconds}
	if writes {
		p.Lines = append(p.Lines, took("writes", plot.First, func(b check.Bin) time.Duration { return b.WriteP99 }))
	}
	p.Lines = append(p.Lines, took("reads", plot.Second, func(b check.Bin) time.Duration { return b.ReadP99 }))
	return p
}

func line(s check.Series, name string, tone plot.Tone, of func(check.Bin) float64) plot.Line {
	l := plot.Line{Name: name, Tone: tone, Interval: s.Interval}
	for _, b := range s.Bins {
		l.Values = append(l.Values, of(b))
	}
	return l
}

// milliseconds formats a latency in milliseconds.
func milliseconds(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.3g s", v/1000)
	}
	return fmt.Sprintf("%.3g ms", v)
}

// offset formats a time since the beginning of a phase.
func offset(d time.Duration) string { return d.Round(100 * time.Millisecond).String() }
