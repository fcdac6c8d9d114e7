package chaos

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"quorate/chaos/check"
	"quorate/chaos/history"
	"quorate/chaos/nemesis"
)

// columns are the columns of the table in a report.
var columns = []string{
	"FAULT", "WORKLOAD", "OPERATIONS", "ACKNOWLEDGED", "UNKNOWN", "LOST", "LINEARIZABLE", "WATCH VIOLATIONS", "LONGEST REFUSED", "SEED", "VERDICT",
}

// workloads are the rows of each phase, with the kinds of operations in each.
var workloads = []struct {
	name  string
	kinds []history.Kind
}{
	{"create, replace, delete", []history.Kind{history.Create, history.Replace, history.Delete}},
	{"quorum reads", []history.Kind{history.Get, history.List, history.PagedList}},
	{"cached reads", []history.Kind{history.CachedGet, history.CachedList}},
}

// Write prints the report as text: a table of faults and workloads, then all findings.
func (r *Report) Write(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(columns, "\t"))
	for _, p := range r.Phases {
		for _, row := range p.rows() {
			fmt.Fprintln(table, strings.Join(row, "\t"))
		}
	}
	if err := table.Flush(); err != nil { // returns the first error of all lines
		return err
	}
	p := &printer{w: w}
	p.printf("\n")
	for _, phase := range r.Phases {
		phase.problems(p)
	}
	r.totals(p)
	return p.err
}

// rows returns one row for each workload, and one for the watchers.
func (p *PhaseReport) rows() (rows [][]string) {
	v := p.Verdict
	if p.Idle != nil {
		return [][]string{p.idleRow()}
	}
	for i, workload := range workloads {
		var sum check.Counts
		for _, kind := range workload.kinds {
			c := v.Workloads[kind]
			sum.Operations += c.Operations
			sum.Acknowledged += c.Acknowledged
			sum.Unknown += c.Unknown
		}
		row := []string{"", workload.name, strconv.Itoa(sum.Operations), strconv.Itoa(sum.Acknowledged), strconv.Itoa(sum.Unknown), "", "", "", "", "", ""}
		switch i {
		case 0:
			row[0], row[5], row[6], row[8] = p.Phase, strconv.Itoa(v.Lost), string(v.Linearizable), refused(v.Refusals, check.Writes)
			row[9], row[10] = strconv.FormatUint(p.Seed, 10), string(p.Outcome())
		case 1:
			row[6], row[8] = string(v.Linearizable), refused(v.Refusals, check.QuorumReads)
		case 2:
			row[8] = refused(v.Refusals, check.CachedReads)
		}
		rows = append(rows, row)
	}
	watch := fmt.Sprintf("watch: %d watchers, %d streams", v.Watchers, v.Streams)
	rows = append(rows, []string{"", watch, strconv.Itoa(v.Delivered), "", "", "", "", strconv.Itoa(v.WatchViolations), "", "", ""})
	if m := v.Mixture; m != nil {
		text := fmt.Sprintf("mixture: %d watches, %d streams", m.Watches, m.Streams)
		rows = append(rows, []string{
			"", text, strconv.Itoa(m.Events), strconv.Itoa(m.Writes), "", "", "", strconv.Itoa(m.Violations), "", "", "",
		})
	}
	return rows
}

// idleRow returns the row of a phase without writes.
func (p *PhaseReport) idleRow() []string {
	i := p.Idle
	row := make([]string, len(columns))
	row[0], row[1] = p.Phase, fmt.Sprintf("reads alone: %d acts, %d entries in between", i.Acts, i.Entries)
	row[2], row[3], row[4] = strconv.Itoa(i.Reads), strconv.Itoa(i.Reads-i.Excused-p.failed()), strconv.Itoa(i.Excused)
	row[9], row[10] = strconv.FormatUint(p.Seed, 10), string(p.Outcome())
	return row
}

// failed returns the number of reads that are findings.
func (p *PhaseReport) failed() (n int) {
	for f := range p.Broken() {
		n += f.Count
	}
	return n
}

// refused returns the longest refusal of a service, by the node that came nearest to its bound, and
// that bound.
func refused(all []check.Refusal, s check.Service) string {
	var worst check.Refusal
	part := -1.0
	for _, r := range all {
		if of := float64(r.Longest) / float64(max(r.Allowed, 1)); r.Service == s && of > part {
			worst, part = r, of
		}
	}
	if part < 0 {
		return ""
	}
	text := seconds(worst.Longest) + " of " + worst.Allowed.Round(100*time.Millisecond).String()
	if worst.Node != "" {
		text += " (" + worst.Node + ")"
	}
	return text
}

func seconds(d time.Duration) string { return d.Round(10 * time.Millisecond).String() }

// problems prints the findings of the phase and its injections.
func (p *PhaseReport) problems(out *printer) {
	if p.OK() {
		return
	}
	out.printf("%s, namespace %s, seed %d:\n", p.Phase, p.Namespace, p.Seed)
	if p.NotRecovered != "" {
		out.printf("  the cluster did not recover: %s\n", p.NotRecovered)
	}
	for _, e := range p.Ended {
		out.printf("  %s %s ended by itself, and nothing explains it: %s: %s\n", e.At.Format("15:04:05.000"), e.Node, e.How, e.Line)
	}
	for f := range p.Broken() {
		out.printf("  BROKEN, %d times: %s\n", f.Count, f.Promise)
		for _, sample := range f.Samples {
			out.printf("    %s\n", sample)
		}
	}
	if keys := p.Verdict.UndecidedKeys; len(keys) > 0 {
		out.printf("  undecided whether linearizable: %s\n", strings.Join(keys, " "))
	}
	if n := p.Verdict.Unjudged; n > 0 {
		out.printf("  reads that there was nothing to hold against: %d\n", n)
	}
	for _, problem := range p.Verdict.Problems {
		out.printf("  %s\n", problem)
	}
	for _, file := range p.Verdict.Visualizations {
		out.printf("  drawn: %s\n", file)
	}
	for _, s := range p.Injections {
		out.printf("  %s\n", line(s))
	}
}

// line describes one injection.
func line(s nemesis.Record) string {
	text := fmt.Sprintf("%s %s %s", s.At.Format("15:04:05.000"), s.Fault, strings.Join(s.Nodes, ","))
	if len(s.Notes) > 0 {
		text += " (" + strings.Join(s.Notes, "; ") + ")"
	}
	if s.Healed.IsZero() {
		return text + ", not healed"
	}
	return text + ", healed after " + s.Healed.Sub(s.At).Round(time.Millisecond).String()
}

// totals prints the totals of all phases.
func (r *Report) totals(out *printer) {
	var operations, acknowledged, unknown, lost, delivered, violations, expired, injections, written int
	var idle idleTotals
	var writes []check.Refusal
	linearizable := 0
	outcomes := map[Outcome]int{}
	for _, p := range r.Phases {
		outcomes[p.Outcome()]++
		injections += len(p.Injections)
		if p.Idle != nil {
			idle.add(p)
			continue
		}
		written++
		for kind, c := range p.Verdict.Workloads {
			operations += c.Operations
			if kind.IsWrite() {
				acknowledged += c.Acknowledged
				unknown += c.Unknown
			}
		}
		lost += p.Verdict.Lost
		delivered += p.Verdict.Delivered
		violations += p.Verdict.WatchViolations
		writes = append(writes, p.Verdict.Refusals...)
		expired += p.Verdict.Expired
		if p.Verdict.Linearizable == check.Yes {
			linearizable++
		}
	}
	out.printf("%.0f s, %d phases, %d injections, %d operations\n", r.Seconds, len(r.Phases), injections, operations)
	out.printf("writes acknowledged %d, of unknown outcome %d, lost %d; linearizable in %d of %d phases\n",
		acknowledged, unknown, lost, linearizable, written)
	out.printf("watch events delivered %d, violations %d; positions and pages said to be too old %d; longest without a write %s\n",
		delivered, violations, expired, refused(writes, check.Writes))
	r.mixture(out)
	idle.tell(out)
	r.coverage(out)
	if r.Incomplete != "" {
		out.printf("the run did not come to its end: %s\n", r.Incomplete)
	}
	switch outcome := r.Outcome(); {
	case outcome == Held:
		out.printf("verdict: every promise held (seed %d)\n", r.Seed)
	case outcome == NotInjected:
		out.printf("verdict: none, since no fault was injected (seed %d)\n", r.Seed)
	case outcomes[outcome] == 0:
		out.printf("verdict: none, since the run did not come to its end; every promise held in %d phases (seed %d)\n", outcomes[Held], r.Seed)
	default:
		out.printf("verdict: %s in %d of %d phases (seed %d)\n", outcome, outcomes[outcome], len(r.Phases), r.Seed)
	}
}

// mixture prints the totals of the mixtures of all phases.
func (r *Report) mixture(out *printer) {
	var sum check.Mixture
	for _, p := range r.Phases {
		if m := p.Verdict.Mixture; m != nil {
			sum.Watches += m.Watches
			sum.Streams += m.Streams
			sum.Events += m.Events
			sum.Changes += m.Changes
			sum.Refused += m.Refused
			sum.Expired += m.Expired
			sum.Violations += m.Violations
		}
	}
	if sum.Watches > 0 {
		out.printf("mixture: %d watches in %d streams, %d events of %d changes judged, violations %d; %d watches refused as they must be; "+
			"positions said to be too old %d\n",
			sum.Watches, sum.Streams, sum.Events, sum.Changes, sum.Violations, sum.Refused, sum.Expired)
	}
}

// printer writes text and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, values ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, values...)
	}
}
