package check

import (
	"quorate/chaos/workload"
)

// Watched is the verdict on one watcher.
type Watched struct {
	Delivered  int
	Missed     Violations
	Repeated   Violations
	Disordered Violations
	Invented   Violations
}

// Watch compares what a watcher saw with what was acknowledged between two versions (after, upTo]: every write once, in
// order, with its value, and nothing that nobody wrote.
func Watch(ops []workload.Op, seen []workload.Seen, after, upTo uint64) Watched {
	w := Watched{Delivered: len(seen)}
	versions := make(map[uint64]workload.Seen, len(seen))
	var last uint64
	for _, event := range seen {
		if _, twice := versions[event.Version]; twice {
			w.Repeated.Add("version %d of %s", event.Version, event.Key)
		} else if event.Version < last {
			w.Disordered.Add("version %d of %s after %d", event.Version, event.Key, last)
		}
		versions[event.Version] = event
		last = max(last, event.Version)
	}
	w.acknowledged(ops, versions, after, upTo)
	w.deletions(ops, seen)
	w.invented(ops, seen)
	return w
}

// acknowledged looks for each acknowledged create and replace.
func (w *Watched) acknowledged(ops []workload.Op, seen map[uint64]workload.Seen, after, upTo uint64) {
	for _, op := range ops {
		if op.Unknown || op.Kind > workload.Replace || op.Version <= after || op.Version > upTo {
			continue
		}
		event, ok := seen[op.Version]
		want := "ADDED"
		if op.Kind == workload.Replace {
			want = "MODIFIED"
		}
		switch {
		case !ok:
			w.Missed.Add("%s %s version %d", op.Kind, op.Key, op.Version)
		case event.Key != op.Key || event.Value != op.Value || event.Type != want:
			w.Missed.Add("%s %s version %d came as %+v", op.Kind, op.Key, op.Version, event)
		}
	}
}

// deletions counts them: a client is not told the version of a deletion, so each key must have as many as were
// acknowledged, and more only as far as outcomes were unknown.
func (w *Watched) deletions(ops []workload.Op, seen []workload.Seen) {
	acknowledged, unknown, delivered := map[string]int{}, map[string]int{}, map[string]int{}
	for _, op := range ops {
		if op.Kind == workload.Delete && op.Unknown {
			unknown[op.Key]++
		} else if op.Kind == workload.Delete {
			acknowledged[op.Key]++
		}
	}
	for _, event := range seen {
		if event.Type == "DELETED" {
			delivered[event.Key]++
		}
	}
	for key, want := range acknowledged {
		if delivered[key] < want {
			w.Missed.Add("%d of %d deletions of %s", want-delivered[key], want, key)
		}
	}
	for key, have := range delivered {
		if have > acknowledged[key]+unknown[key] {
			w.Invented.Add("%d deletions of %s, %d asked for", have, key, acknowledged[key]+unknown[key])
		}
	}
}

// invented looks for events whose value no writer ever sent.
func (w *Watched) invented(ops []workload.Op, seen []workload.Seen) {
	sent := map[string]bool{}
	for _, op := range ops {
		if op.Kind <= workload.Replace {
			sent[op.Key+"="+op.Value] = true
		}
	}
	for _, event := range seen {
		if !sent[event.Key+"="+event.Value] {
			w.Invented.Add("%+v", event)
		}
	}
}
