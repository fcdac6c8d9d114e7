package chaos

import (
	"fmt"
	"io"
	"time"

	"quorate/chaos/check"
	"quorate/chaos/nemesis"
	"quorate/chaos/workload"
)

// Report is the verdict on one run.
type Report struct {
	Seed                  uint64                `json:"seed"`
	Seconds               float64               `json:"seconds"`
	Faults                map[nemesis.Fault]int `json:"faults"`
	Acknowledged          int                   `json:"writesAcknowledged"`
	Unknown               int                   `json:"writesUnknown"`
	Unavailable           int                   `json:"requestsUnavailable"`
	Reads                 int                   `json:"quorumReads"`
	LongestWithoutWriteMS int64                 `json:"longestWithoutWriteMilliseconds"`
	Watchers              int                   `json:"watchers"`
	Streams               int                   `json:"watchStreams"`
	Expired               int                   `json:"watchPositionsExpired"`
	Delivered             int                   `json:"watchEventsDelivered"`
	Findings              []Finding             `json:"findings"`
}

// Finding is the result of one check; none of its violations may happen.
type Finding struct {
	Promise string `json:"promise"`
	check.Violations
}

func (r *run) report(finals []check.Final, end uint64, took time.Duration) *Report {
	ops := r.history.Ops()
	gap, _ := check.LongestGap(ops)
	report := &Report{
		Seed: r.Seed, Seconds: took.Seconds(), Faults: r.kills,
		Acknowledged: acknowledged(ops), Unavailable: r.history.Unavailable(),
		LongestWithoutWriteMS: gap.Milliseconds(), Watchers: len(r.watchers),
	}
	for _, op := range ops {
		if op.Unknown {
			report.Unknown++
		} else if op.Kind == workload.Read || op.Kind == workload.List {
			report.Reads++
		}
	}
	var lost check.Violations
	for _, final := range finals {
		lost.Join(check.Lost(ops, final))
	}
	report.add("acknowledged writes lost", lost)
	report.add("nodes that differ", check.Diverged(finals))
	report.add("versions that went back or were used twice", check.VersionsBack(ops))
	report.add("stale quorum reads", check.StaleReads(ops))
	report.watchers(r, ops, end)
	var refused check.Violations
	for _, text := range r.history.Refused() {
		refused.Add("%s", text)
	}
	report.add("answers that no correct server gives", refused)
	return report
}

// watchers adds the verdict on all watchers together.
func (r *Report) watchers(run *run, ops []workload.Op, end uint64) {
	var missed, repeated, disordered, invented check.Violations
	for _, w := range run.watchers {
		seen, streams, expired := w.Result()
		verdict := check.Watch(ops, seen, run.start, end)
		r.Delivered += verdict.Delivered
		r.Streams += streams
		r.Expired += expired
		missed.Join(verdict.Missed)
		repeated.Join(verdict.Repeated)
		disordered.Join(verdict.Disordered)
		invented.Join(verdict.Invented)
	}
	r.add("watch events missed", missed)
	r.add("watch events repeated", repeated)
	r.add("watch events out of order", disordered)
	r.add("watch events that nobody wrote", invented)
}

func (r *Report) add(promise string, v check.Violations) {
	r.Findings = append(r.Findings, Finding{Promise: promise, Violations: v})
}

// OK reports whether every promise held.
func (r *Report) OK() bool {
	for _, f := range r.Findings {
		if f.Count > 0 {
			return false
		}
	}
	return r.Expired == 0
}

// Write prints the report for people.
func (r *Report) Write(w io.Writer) error {
	p := &printer{w: w}
	p.row("seed", r.Seed)
	p.row("seconds", fmt.Sprintf("%.1f", r.Seconds))
	for _, fault := range nemesis.Faults() {
		p.row(string(fault), r.Faults[fault])
	}
	p.row("writes acknowledged", r.Acknowledged)
	p.row("writes of unknown outcome", r.Unknown)
	p.row("requests refused as unavailable", r.Unavailable)
	p.row("quorum reads", r.Reads)
	p.row("longest time without a write (ms)", r.LongestWithoutWriteMS)
	p.row("watchers / streams", fmt.Sprintf("%d / %d", r.Watchers, r.Streams))
	p.row("watch events delivered", r.Delivered)
	p.row("watch positions expired", r.Expired)
	for _, f := range r.Findings {
		p.row(f.Promise, f.Count)
		for _, sample := range f.Samples {
			p.line("    " + sample)
		}
	}
	verdict := "verdict: every promise held"
	if !r.OK() {
		verdict = fmt.Sprintf("verdict: BROKEN (replay with --seed %d)", r.Seed)
	}
	p.line(verdict)
	return p.err
}

// printer remembers the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) row(name string, value any) { p.line(fmt.Sprintf("%-45s %v", name, value)) }

func (p *printer) line(text string) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, text)
	}
}
