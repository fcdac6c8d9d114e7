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
	// Unavailable lists requested faults that are not possible with these nodes.
	Unavailable []nemesis.Unavailable `json:"unavailable,omitempty"`
	// Incomplete is the reason why the run ended before its plan or time; "" if it did not.
	Incomplete string `json:"incomplete,omitempty"`
}

// PhaseReport is the verdict on one phase.
type PhaseReport struct {
	Phase      string           `json:"phase"`
	Seed       uint64           `json:"seed"`
	Namespace  string           `json:"namespace"` // of its objects, which are kept if the phase fails
	Began      time.Time        `json:"began"`     // to which the times of the verdict are relative
	Seconds    float64          `json:"seconds"`
	Planned    []string         `json:"planned"` // names of faults
	Injections []nemesis.Record `json:"strikes"`
	Calm       bool             `json:"calm,omitempty"` // no faults were planned
	Idle       *IdleReport      `json:"idle,omitempty"` // for a phase without writes
	// Ended lists nodes that ended by themselves without explanation.
	Ended []nemesis.Ended `json:"ended,omitempty"`
	// NotRecovered is what the cluster did not do in time; "" if it recovered after each fault.
	NotRecovered string         `json:"notRecovered,omitempty"`
	Verdict      *check.Verdict `json:"verdict"`
}

// Broken yields the broken promises.
func (p *PhaseReport) Broken() iter.Seq[check.Finding] {
	return func(yield func(check.Finding) bool) {
		for _, f := range p.Verdict.Findings {
			if f.Count > 0 && !yield(f) {
				return
			}
		}
	}
}

// OK reports whether all promises held and the cluster always recovered.
func (p *PhaseReport) OK() bool { return p.Outcome() == Held || p.Outcome() == NotInjected }

// Outcome is the result of a phase or run.
type Outcome string

// The outcomes.
const (
	Held        Outcome = "held"
	Broken      Outcome = "BROKEN"    // a promise was broken, or the cluster did not recover
	Undecided   Outcome = "undecided" // nothing wrong was found, but not everything could be judged
	NotInjected Outcome = "no fault"  // all promises held, but no fault was injected
)

// Outcome returns the outcome of the phase.
func (p *PhaseReport) Outcome() Outcome {
	for range p.Broken() {
		return Broken
	}
	switch {
	case p.NotRecovered != "" || len(p.Ended) > 0:
		return Broken
	case !p.Verdict.OK():
		return Undecided
	case len(p.Injections) == 0 && !p.Calm:
		return NotInjected
	default:
		return Held
	}
}

// Outcome returns the worst outcome of the phases, or Undecided if the run ended early.
func (r *Report) Outcome() Outcome {
	sum := NotInjected
	if r.Incomplete != "" {
		sum = Undecided
	}
	for _, p := range r.Phases {
		switch one := p.Outcome(); {
		case one == Broken:
			return Broken
		case one == Undecided || sum == NotInjected:
			sum = one
		}
	}
	return sum
}

// OK reports whether the outcome is Held.
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
