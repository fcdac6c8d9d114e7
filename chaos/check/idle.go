package check

import (
	"time"

	"quorate/chaos/history"
)

// IdleSlow is the time limit of a read of an idle cluster. It is longer than an election, during
// which a read waits for a leader.
const IdleSlow = 10 * time.Second

// IdleCounts counts the outcomes of the reads of an idle cluster.
type IdleCounts struct {
	Reads   int `json:"reads"`
	Excused int `json:"excused"` // that failed or were slow, as something that was done then explains
}

// Idle judges the reads of a cluster without writes. Each read must return the right response in
// time, unless it is excused. A wrong response is never excused.
func Idle(reads []history.IdleRead, excused func(history.IdleRead) bool) (*Verdict, IdleCounts) {
	found, counts := findings{}, IdleCounts{Reads: len(reads)}
	for _, r := range reads {
		r.Problem = clip(r.Problem)
		took := r.Answered - r.Invoked
		switch {
		case r.Wrong:
			found.add(IdleAnswers, "%s on %s, %v to %v: %s", r.Kind, r.Node, round(r.Invoked), round(r.Answered), r.Problem)
		case r.Problem == "" && took <= IdleSlow:
		case excused(r):
			counts.Excused++
		case r.Problem == "":
			found.add(IdleReads, "%s on %s, %v to %v: it took longer than %v", r.Kind, r.Node, round(r.Invoked), round(r.Answered), IdleSlow)
		default:
			found.add(IdleReads, "%s on %s, %v to %v: %s", r.Kind, r.Node, round(r.Invoked), round(r.Answered), r.Problem)
		}
	}
	v := &Verdict{Linearizable: Yes, Series: NewIdleSeries(reads, SeriesInterval)}
	v.Findings = found.all()
	if len(reads) == 0 {
		v.Unjudged = 1
	}
	return v, counts
}

// maxProblem bounds the description of one failed read.
const maxProblem = 200

func clip(s string) string {
	if len(s) > maxProblem {
		return s[:maxProblem] + "…"
	}
	return s
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
