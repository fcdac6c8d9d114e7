// Package overview sums up the members of a cluster on one screen, for `quorate status`. It has no
// goroutines.
package overview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quorate/apiserver/admin"
	"quorate/apiserver/rates"
)

// Verdict is the state of the cluster in one word.
type Verdict string

// The verdicts.
const (
	Healthy  Verdict = "healthy"
	Degraded Verdict = "degraded" // it serves, and something needs the operator
	Down     Verdict = "down"     // it cannot write: no quorum, or no leader
)

// Status is the state of a cluster.
type Status struct {
	Verdict Verdict `json:"verdict"`
	// Summary says how many voters respond and how many more may fail.
	Summary string `json:"summary"`
	// Problem says why the cluster cannot write and what to do; empty if it can.
	Problem string `json:"problem,omitempty"`

	Leader string  `json:"leader,omitempty"`
	Term   *uint64 `json:"term"` // the highest that a member reports

	Voters    []string `json:"voters"`
	Nonvoters []string `json:"nonvoters"`
	Silent    []string `json:"silent"` // members that did not respond
	// Tolerates is how many more voters may fail; it is negative without a quorum.
	Tolerates int `json:"tolerates"`

	// Lag and LagOf are the largest number of log entries that a member has not applied, and that
	// member; without a leader they are unknown.
	Lag   *uint64 `json:"lag"`
	LagOf string  `json:"lagOf,omitempty"`
	// DiskFreeBytes and DiskOf are the least free space of a member's disk, and that member.
	DiskFreeBytes *int64 `json:"diskFreeBytes"`
	DiskOf        string `json:"diskOf,omitempty"`
	// Versions has the members that run each version.
	Versions map[string][]string `json:"versions"`
	Alarms   []Alarm             `json:"alarms"`
	// Rates is what the responding node did in the last ten seconds; null if unknown.
	Rates *rates.Sample `json:"rates"`
}

// Alarm is an active alarm of a member.
type Alarm struct {
	Node    string `json:"node"`
	Name    string `json:"name"`
	Message string `json:"message"` // what is wrong
	Advice  string `json:"advice"`  // what to do
}

// Of returns the status of the cluster that has these members.
func Of(members []admin.Member) Status {
	quorum := admin.QuorumOf(members)
	s := Status{
		Verdict: Healthy, Summary: quorum.String(), Leader: quorum.Leader, Tolerates: quorum.Tolerates(),
		Voters: []string{}, Nonvoters: []string{}, Silent: []string{}, Versions: map[string][]string{}, Alarms: []Alarm{},
	}
	for _, m := range members {
		s.add(m)
	}
	if err := quorum.Err(); err != nil {
		s.Verdict, s.Problem = Down, err.Error()
	} else if len(s.Silent) > 0 || len(s.Alarms) > 0 {
		s.Verdict = Degraded
	}
	return s
}

func (s *Status) add(m admin.Member) {
	if m.Role == admin.RoleNonvoter {
		s.Nonvoters = append(s.Nonvoters, m.Name)
	} else {
		s.Voters = append(s.Voters, m.Name)
	}
	if !m.IsAlive() {
		s.Silent = append(s.Silent, m.Name)
	}
	if m.Term != nil && (s.Term == nil || *m.Term > *s.Term) {
		s.Term = m.Term
	}
	if m.Lag != nil && (s.Lag == nil || *m.Lag > *s.Lag) {
		s.Lag, s.LagOf = m.Lag, m.Name
	}
	if m.DiskFreeBytes != nil && (s.DiskFreeBytes == nil || *m.DiskFreeBytes < *s.DiskFreeBytes) {
		s.DiskFreeBytes, s.DiskOf = m.DiskFreeBytes, m.Name
	}
	if m.Version != nil {
		s.Versions[*m.Version] = append(s.Versions[*m.Version], m.Name)
	}
	for _, a := range m.Alarms {
		s.Alarms = append(s.Alarms, Alarm{Node: m.Name, Name: a.Name, Message: a.Message, Advice: a.Advice})
	}
}

// Line is one line of the screen: a label and its value.
type Line struct{ Label, Value string }

// Lines returns the screen, without the verdict: one line for each fact, and one with the remedy for
// each thing that is wrong.
func (s Status) Lines() []Line {
	lines := []Line{
		{"leader", s.leader()},
		{"voters", fmt.Sprintf("%s (%s)", list(s.Voters), s.Summary)},
	}
	if len(s.Nonvoters) > 0 {
		lines = append(lines, Line{"non-voters", list(s.Nonvoters)})
	}
	lines = append(lines, Line{"lag", s.lag()})
	if s.Rates != nil {
		lines = append(lines, Line{"rates", s.rates()})
	}
	lines = append(lines, Line{"version", s.version()}, Line{"free disk", s.disk()})
	if len(s.Silent) > 0 {
		lines = append(lines, Line{"silent", list(s.Silent) + ": start it, or remove it if it is lost for good (quorate remove NAME)"})
	}
	if len(s.Versions) > 1 {
		lines = append(lines, Line{"upgrade", "the members run several versions: finish the upgrade"})
	}
	for _, a := range s.Alarms {
		lines = append(lines, Line{"alarm", a.text()})
	}
	if len(s.Alarms) == 0 {
		lines = append(lines, Line{"alarms", "none"})
	}
	if s.Problem != "" {
		lines = append(lines, Line{"problem", s.Problem})
	}
	return lines
}

// text returns the alarm in one line.
func (a Alarm) text() string {
	text := fmt.Sprintf("%s: %s: %s", a.Node, a.Name, a.Message)
	if a.Advice != "" {
		text += ": " + a.Advice
	}
	return text
}

// unknown is the value of what no member reported.
const unknown = "-"

func list(names []string) string { return cmp.Or(strings.Join(names, ", "), "none") }

func (s Status) leader() string {
	leader := cmp.Or(s.Leader, "none")
	if s.Term == nil {
		return leader
	}
	return fmt.Sprintf("%s, term %d", leader, *s.Term)
}

func (s Status) lag() string {
	switch {
	case s.Lag == nil:
		return unknown
	case *s.Lag == 0:
		return "none"
	}
	return fmt.Sprintf("at most %d entries (%s)", *s.Lag, s.LagOf)
}

// AddRates adds what the responding node did in the latest interval of its samples, if it has any.
func (s *Status) AddRates(r rates.Rates) {
	if n := len(r.Samples); n > 0 {
		s.Rates = &r.Samples[n-1]
	}
}

func (s Status) rates() string {
	return fmt.Sprintf("%.1f log entries/s; this node serves %s and %s", s.Rates.Entries,
		rate(s.Rates.Reads, "reads", s.Rates.ReadP99Seconds), rate(s.Rates.Writes, "writes", s.Rates.WriteP99Seconds))
}

// rate returns a rate of requests, with the time that 99 % of them took at most.
func rate(perSecond float64, what string, p99 *float64) string {
	text := fmt.Sprintf("%.1f %s/s", perSecond, what)
	if p99 != nil {
		text += fmt.Sprintf(" (p99 %.1f ms)", *p99*1000)
	}
	return text
}

func (s Status) version() string {
	versions := slices.Sorted(maps.Keys(s.Versions))
	if len(versions) == 1 {
		return versions[0]
	}
	for i, v := range versions {
		versions[i] = fmt.Sprintf("%s (%s)", v, list(s.Versions[v]))
	}
	return cmp.Or(strings.Join(versions, ", "), unknown)
}

func (s Status) disk() string {
	if s.DiskFreeBytes == nil {
		return unknown
	}
	return fmt.Sprintf("at least %.1f GiB (%s)", float64(*s.DiskFreeBytes)/(1<<30), s.DiskOf)
}
