package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"quorate/chaos/workload"
)

// maxViolations bounds the samples of one check.
const maxViolations = 20

// Violations collects what a check found: samples, and how many there were.
type Violations struct {
	Count   int      `json:"count"`
	Samples []string `json:"samples,omitempty"`
}

// Add counts one violation.
func (v *Violations) Add(format string, args ...any) {
	v.Count++
	if len(v.Samples) < maxViolations {
		v.Samples = append(v.Samples, fmt.Sprintf(format, args...))
	}
}

// Join adds what another check found.
func (v *Violations) Join(other Violations) {
	v.Count += other.Count
	room := maxViolations - len(v.Samples)
	v.Samples = append(v.Samples, other.Samples[:min(room, len(other.Samples))]...)
}

// Final is the state found on one node after the run.
type Final struct {
	Node    string
	Objects map[string]Stored
}

// Stored is one object of a final state.
type Stored struct {
	Version uint64
	Value   string
}

// Lost compares the final state with what was acknowledged: each key must hold the last acknowledged write of its only
// writer, or one of unknown outcome that came after it.
func Lost(ops []workload.Op, final Final) Violations {
	var v Violations
	for key, history := range byKey(ops) {
		stored, exists := final.Objects[key]
		if problem := lost(history, stored, exists); problem != "" {
			v.Add("on %s %s: %s", final.Node, key, problem)
		}
	}
	return v
}

// lost looks at the writes to one key, in the order their writer made them.
func lost(history []workload.Op, stored Stored, exists bool) string {
	var last workload.Op
	var acknowledged, mayBeDeleted bool
	unknown := map[string]bool{}
	for _, op := range history {
		switch {
		case op.Unknown && op.Kind == workload.Delete:
			mayBeDeleted = true
		case op.Unknown:
			unknown[op.Value] = true
		default:
			last, acknowledged, mayBeDeleted = op, true, false
		}
	}
	switch {
	case !exists && (!acknowledged || last.Kind == workload.Delete || mayBeDeleted):
		return ""
	case !exists:
		return fmt.Sprintf("absent, though %s of version %d was acknowledged", last.Kind, last.Version)
	case acknowledged && last.Kind != workload.Delete && stored.Version == last.Version && stored.Value == last.Value:
		return ""
	case unknown[stored.Value] && stored.Version > last.Version:
		return ""
	}
	return fmt.Sprintf("holds version %d value %q; last acknowledged: %s version %d value %q",
		stored.Version, stored.Value, last.Kind, last.Version, last.Value)
}

func byKey(ops []workload.Op) map[string][]workload.Op {
	keys := map[string][]workload.Op{}
	for _, op := range ops {
		if op.Kind <= workload.Delete {
			keys[op.Key] = append(keys[op.Key], op)
		}
	}
	return keys
}

// Diverged compares final states of different nodes, which must be equal.
func Diverged(states []Final) Violations {
	var v Violations
	for _, other := range states[1:] {
		for key, have := range states[0].Objects {
			if there, ok := other.Objects[key]; !ok || there != have {
				v.Add("%s: %+v on %s, %+v on %s", key, have, states[0].Node, there, other.Node)
			}
		}
		for key := range other.Objects {
			if _, ok := states[0].Objects[key]; !ok {
				v.Add("%s: on %s only", key, other.Node)
			}
		}
	}
	return v
}

// VersionsBack checks that versions follow real time: an acknowledged write or a quorum list that began after another had
// been answered carries a version no lower, and no two writes share one.
func VersionsBack(ops []workload.Op) Violations {
	var v Violations
	told := versioned(ops)
	byAnswer := slices.Clone(told)
	slices.SortFunc(byAnswer, func(a, b workload.Op) int { return a.Answered.Compare(b.Answered) })
	slices.SortFunc(told, func(a, b workload.Op) int { return a.Invoked.Compare(b.Invoked) })
	var highest workload.Op
	next := 0
	owner := map[uint64]workload.Op{}
	for _, op := range told {
		for next < len(byAnswer) && byAnswer[next].Answered.Before(op.Invoked) {
			if byAnswer[next].Version > highest.Version {
				highest = byAnswer[next]
			}
			next++
		}
		if op.Version < highest.Version {
			v.Add("%s %s on %s got version %d after %s on %s had got %d", op.Kind, op.Key, op.Node, op.Version,
				highest.Kind, highest.Node, highest.Version)
		}
		if op.Kind == workload.List {
			continue
		}
		if twin, taken := owner[op.Version]; taken {
			v.Add("version %d: both %s %s and %s %s", op.Version, op.Kind, op.Key, twin.Kind, twin.Key)
		}
		owner[op.Version] = op
	}
	return v
}

func versioned(ops []workload.Op) (told []workload.Op) {
	for _, op := range ops {
		if op.Version != 0 && op.Kind != workload.Read {
			told = append(told, op)
		}
	}
	return told
}

// StaleReads checks that a quorum read of a key shows at least the last write to it that was acknowledged before the read
// began.
func StaleReads(ops []workload.Op) Violations {
	var v Violations
	writes := byKey(ops)
	for _, read := range ops {
		if read.Kind != workload.Read {
			continue
		}
		if problem := stale(read, writes[read.Key]); problem != "" {
			v.Add("read of %s on %s: %s", read.Key, read.Node, problem)
		}
	}
	return v
}

// stale judges one read against the writes to its key, in the order of their only writer.
func stale(read workload.Op, writes []workload.Op) string {
	// The writes before `from` had been answered when the read began; those after `to` began after it ended.
	from, _ := slices.BinarySearchFunc(writes, read.Invoked, func(w workload.Op, t time.Time) int {
		return cmp.Or(w.Answered.Compare(t), -1)
	})
	var last workload.Op
	doubt := false
	for i := from - 1; i >= 0; i-- {
		if !writes[i].Unknown {
			last = writes[i]
			break
		}
		doubt = true
	}
	switch {
	case read.Version == 0 && last.Version != 0:
		for _, w := range writes[from:] {
			if w.Kind == workload.Delete && w.Invoked.Before(read.Answered) {
				return ""
			}
		}
		if doubt {
			return ""
		}
		return fmt.Sprintf("absent after version %d was acknowledged", last.Version)
	case read.Version != 0 && read.Version < last.Version:
		return fmt.Sprintf("version %d after version %d was acknowledged", read.Version, last.Version)
	case read.Version != 0 && last.Kind == workload.Delete && !doubt:
		for _, w := range writes[from:] {
			if w.Kind != workload.Delete && w.Invoked.Before(read.Answered) {
				return ""
			}
		}
		if earlierDoubt(writes[:from], read.Value) {
			return ""
		}
		return fmt.Sprintf("version %d after its deletion was acknowledged", read.Version)
	}
	return ""
}

// earlierDoubt reports whether a write of unknown outcome carried the value: it may land at any time.
func earlierDoubt(writes []workload.Op, value string) bool {
	return slices.ContainsFunc(writes, func(w workload.Op) bool { return w.Unknown && w.Value == value })
}

// LongestGap returns the longest time in which no write was acknowledged to anybody.
func LongestGap(ops []workload.Op) (gap time.Duration, at time.Time) {
	var answers []time.Time
	for _, op := range ops {
		if op.Kind <= workload.Delete && !op.Unknown {
			answers = append(answers, op.Answered)
		}
	}
	slices.SortFunc(answers, time.Time.Compare)
	for i := 1; i < len(answers); i++ {
		if d := answers[i].Sub(answers[i-1]); d > gap {
			gap, at = d, answers[i-1]
		}
	}
	return gap, at
}
