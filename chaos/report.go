package chaos

import (
	"encoding/json"
	"iter"
	"time"

	"quorate/chaos/check"
	"quorate/chaos/nemesis"
)

// Report is the verdict on a run.
type Report struct {
	Seed    uint64         `json:"seed"`
	Began   time.Time      `json:"began"`
	Seconds float64        `json:"seconds"`
	Phases  []*PhaseReport `json:"phases"`
	// Unavailable are faults that were asked for and can't be had of these nodes.
	Unavailable []nemesis.Unavailable `json:"unavailable,omitempty"`
	// Incomplete says why the run ended before all was done that was planned, or its time was over;
	// empty: it did not.
	Incomplete string `json:"incomplete,omitempty"`
}

// PhaseReport is the verdict on one phase.
type PhaseReport struct {
	Phase     string           `json:"phase"`
	Seed      uint64           `json:"seed"`
	Namespace string           `json:"namespace"` // where its objects are; those of a phase that failed are kept
	Seconds   float64          `json:"seconds"`
	Planned   []string         `json:"planned"` // faults
	Strikes   []nemesis.Record `json:"strikes"`
	Calm      bool             `json:"calm,omitempty"` // no fault was to strike
	Idle      *IdleReport      `json:"idle,omitempty"` // of a phase in which nobody wrote
	// Ended are nodes that ended by themselves although nothing explains it.
	Ended []nemesis.Ended `json:"ended,omitempty"`
	// NotRecovered says what the cluster did not do in time; empty: it was whole again after each
	// fault.
	NotRecovered string         `json:"notRecovered,omitempty"`
	Verdict      *check.Verdict `json:"verdict"`
}

// Broken are the promises that were.
func (p *PhaseReport) Broken() iter.Seq[check.Finding] {
	return func(yield func(check.Finding) bool) {
		for _, f := range p.Verdict.Findings {
			if f.Count > 0 && !yield(f) {
				return
			}
		}
	}
}

// OK reports whether every promise held, and the cluster was whole again after all that was done to
// it.
func (p *PhaseReport) OK() bool { return p.Outcome() == Held || p.Outcome() == NotStruck }

// Outcome is what a phase has shown.
type Outcome string

// The outcomes.
const (
	Held      Outcome = "held"
	Broken    Outcome = "BROKEN"    // a promise, or the cluster was not whole again
	Undecided Outcome = "undecided" // nothing wrong was found, and not all could be judged
	NotStruck Outcome = "no fault"  // every promise held, and no fault struck
)

// Outcome sums up the phase.
func (p *PhaseReport) Outcome() Outcome {
	for range p.Broken() {
		return Broken
	}
	switch {
	case p.NotRecovered != "" || len(p.Ended) > 0:
		return Broken
	case !p.Verdict.OK():
		return Undecided
	case len(p.Strikes) == 0 && !p.Calm:
		return NotStruck
	default:
		return Held
	}
}

// Outcome sums up the run: what is worst of its phases. It is Undecided when the run did not come
// to its end.
func (r *Report) Outcome() Outcome {
	sum := NotStruck
	if r.Incomplete != "" {
		sum = Undecided
	}
	for _, p := range r.Phases {
		switch one := p.Outcome(); {
		case one == Broken:
			return Broken
		case one == Undecided || sum == NotStruck:
			sum = one
		}
	}
	return sum
}

// OK reports whether something was shown, and every promise held in it.
func (r *Report) OK() bool { return r.Outcome() == Held }

// MarshalJSON adds the outcomes.
func (r *Report) MarshalJSON() ([]byte, error) {
	type plain Report
	return json.Marshal(struct {
		Outcome Outcome `json:"outcome"`
		*plain
	}{r.Outcome(), (*plain)(r)})
}

// MarshalJSON adds the outcome.
func (p *PhaseReport) MarshalJSON() ([]byte, error) {
	type plain PhaseReport
	return json.Marshal(struct {
		Outcome Outcome `json:"outcome"`
		*plain
	}{p.Outcome(), (*plain)(p)})
}
