package watchmodel

import "fmt"

// Rule is something that a watch must do.
type Rule string

// The rules, in the order in which a Verdict speaks of them.
const (
	Misses    Rule = "a watch delivers every event of its selection"
	Foreign   Rule = "a watch delivers nothing that its selector excludes, and nothing that nobody did"
	Crossing  Rule = "a watch delivers nothing of a namespace that it does not watch, or that its user may not read"
	Order     Rule = "a watch delivers each event once, in the order of versions"
	Types     Rule = "an event has the type by which its object entered, changed in or left the selection"
	Contents  Rule = "an event shows its object as it was, in the form asked for"
	Initial   Rule = "initial events are the selected objects of one state"
	Arrival   Rule = "a watch goes on where it was, on any node, to the last write"
	Agreement Rule = "unselected watches agree on all nodes, and tell of every acknowledged write"
)

// Rules returns all rules.
func Rules() []Rule {
	return []Rule{Misses, Foreign, Crossing, Order, Types, Contents, Initial, Arrival, Agreement}
}

// maxSamples bounds how many violations of one rule are described.
const maxSamples = 20

// Finding is how often a rule was broken.
type Finding struct {
	Rule    Rule
	Count   int
	Samples []string
}

// Verdict is the result of judging one record.
type Verdict struct {
	Findings []Finding // every rule, also those that held

	Watches    int // chains of streams
	Streams    int
	Events     int // that arrived, bookmarks included
	References int // streams that only tell the log
	Changes    int // in the log
	Writes     int // acknowledged
	Refused    int // watches that their user may not open, and could not
	Unjudged   int // events before the last write that lie beyond what the references cover
	// Expired are the positions that were refused as too old.
	Expired []Expiry
}

// Expiry is the refusal of a watch's position.
type Expiry struct {
	Watch string // as messages name it
	Refusal
}

// Violations is how often any rule was broken.
func (v *Verdict) Violations() (n int) {
	for _, f := range v.Findings {
		n += f.Count
	}
	return n
}

// judge collects what is found.
type judge struct {
	found map[Rule]*Finding
	Verdict
}

func (j *judge) add(r Rule, format string, args ...any) {
	one := j.found[r]
	if one == nil {
		one = &Finding{Rule: r}
		j.found[r] = one
	}
	one.Count++
	if len(one.Samples) < maxSamples {
		one.Samples = append(one.Samples, fmt.Sprintf(format, args...))
	}
}

// Judge holds a record against the model.
func Judge(r *Record) *Verdict {
	j := &judge{found: map[Rule]*Finding{}}
	logs := map[string]*Log{}
	for name, resource := range r.Resources {
		logs[name] = j.log(name, resource)
	}
	for i := range r.Chains {
		j.chain(&r.Chains[i], logs[r.Chains[i].Resource])
	}
	for _, rule := range Rules() {
		if one := j.found[rule]; one != nil {
			j.Findings = append(j.Findings, *one)
		} else {
			j.Findings = append(j.Findings, Finding{Rule: rule})
		}
	}
	return &j.Verdict
}
