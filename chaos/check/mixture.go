package check

import (
	"slices"

	"quorate/chaos/check/watchmodel"
	"quorate/chaos/history"
)

// Mixture is the result of judging the watches of a mixture.
type Mixture struct {
	Watches    int `json:"watches"`
	Streams    int `json:"streams"`
	Events     int `json:"events"`     // that were judged
	Refused    int `json:"refused"`    // watches that their users may not have, and did not get
	Expired    int `json:"expired"`    // positions that were said to be too old
	References int `json:"references"` // streams that tell the log
	Changes    int `json:"changes"`    // in the log
	Writes     int `json:"writes"`     // acknowledged
	Violations int `json:"violations"`
}

// AddMixture adds the verdict of a mixture of watches, and the responses to its clients that no
// correct server sends. Each of its rules is a promise.
func (v *Verdict) AddMixture(m *watchmodel.Verdict, problems []string, o Options) {
	v.Mixture = &Mixture{
		Watches: m.Watches, Streams: m.Streams, Events: m.Events, Refused: m.Refused, Expired: len(m.Expired),
		References: m.References, Changes: m.Changes, Writes: m.Writes, Violations: m.Violations(),
	}
	v.Unjudged += m.Unjudged
	found := findings{}
	for _, text := range problems {
		found.add(Answers, "%s", text)
	}
	for _, e := range m.Expired {
		if !excused(o.ExpiredPositions, &history.Expiry{Node: e.Node, At: e.At}) {
			found.add(WatchResume, "%s: position %d was said to be too old by %s", e.Watch, e.Position, e.Node)
		}
	}
	v.merge(found)
	for _, f := range m.Findings {
		v.Findings = append(v.Findings, Finding{Promise: Promise(f.Rule), Count: f.Count, Samples: f.Samples})
	}
}

// merge adds findings to those of the verdict.
func (v *Verdict) merge(found findings) {
	for promise, more := range found {
		i := slices.IndexFunc(v.Findings, func(f Finding) bool { return f.Promise == promise })
		if i < 0 {
			v.Findings = append(v.Findings, *more)
			continue
		}
		one := &v.Findings[i]
		one.Count += more.Count
		one.Samples = append(one.Samples, more.Samples...)
		one.Samples = one.Samples[:min(len(one.Samples), maxSamples)]
	}
}
