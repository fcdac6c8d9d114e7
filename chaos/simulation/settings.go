package simulation

import "time"

// settings are the random decisions about a whole run. Each run has only some types of faults, so
// that they do not hide each other.
type settings struct {
	voters, replicas, joiners int
	clients                   int
	pause                     time.Duration // of a client between writes, at most
	watchers                  int
	names                     int // of objects in a collection
	historyBytes              int64
	trailing                  uint64        // entries kept behind a snapshot, at most
	snapshots                 time.Duration // between two, at most
	retained                  time.Duration
	deadServerAfter           time.Duration // of dead servers; 0 is never
	faulty                    time.Duration // how long there are faults
	faultPause                time.Duration // between faults, at most
	faults                    []fault
	batch                     int           // entries applied together, at most
	candidacy                 time.Duration // how far apart elections begin, at most
}

// scale of the timeouts of package voters: a fifth of what they are by default.
const scale = 0.2

func (w *World) choose() settings {
	s := settings{
		voters: pick(w, []int{1, 3, 3, 3, 3, 5}), replicas: pick(w, []int{0, 0, 0, 1}), joiners: pick(w, []int{0, 0, 1, 2}),
		clients: pick(w, []int{1, 2, 4}), pause: w.between(20*time.Millisecond, 400*time.Millisecond),
		watchers: pick(w, []int{2, 4, 8}), names: pick(w, []int{1, 3, 8}),
		historyBytes: pick(w, []int64{1, 2 << 10, 8 << 10, 1 << 20}), trailing: pick(w, []uint64{1, 10, 50, 1000}),
		snapshots: w.between(time.Second, 15*time.Second), retained: w.between(time.Second, 20*time.Second),
		deadServerAfter: pick(w, []time.Duration{0, 6 * time.Second, 12 * time.Second}),
		faulty:          w.between(5*time.Second, 30*time.Second), faultPause: w.between(300*time.Millisecond, 4*time.Second),
		batch: pick(w, []int{1, 4, 64}), candidacy: pick(w, []time.Duration{patience, patience / 4, 20 * time.Millisecond}),
	}
	for _, f := range allFaults() {
		if w.chance(0.5) {
			s.faults = append(s.faults, f)
		}
	}
	return s
}

// described returns the settings for the trace.
func (s settings) described() any {
	var names []string
	for _, f := range s.faults {
		names = append(names, f.name)
	}
	s.faults = nil
	return struct {
		settings
		faults []string
	}{s, names}
}
