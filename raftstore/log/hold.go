package log

import "sync"

// heldLeast is how far holds may make a log grow beyond a MaxBytes that is less.
const heldLeast = 1 << 30

// Hold keeps entries that a follower will need: those behind a snapshot while it's sent, and until they are taken. The bounds of the log
// don't count for them, but Config.HeldBytes does: a follower that hangs must not fill the disk.
type Hold struct{ of *holds }

// holds are those of one log.
type holds struct {
	trimming sync.Mutex // held while a trim removes entries, so that a hold begins before or after
	mu       sync.Mutex // held for a moment only
	all      map[*Hold]uint64
}

// Hold keeps entry from and all after it, of those that are still there, until it is released. It waits for what a trim is just removing.
func (s *Store) Hold(from uint64) *Hold {
	h := &Hold{of: &s.holds}
	s.holds.trimming.Lock()
	defer s.holds.trimming.Unlock()
	s.holds.mu.Lock()
	defer s.holds.mu.Unlock()
	if s.holds.all == nil {
		s.holds.all = make(map[*Hold]uint64)
	}
	s.holds.all[h] = from
	return h
}

// Move lets the entries before from go. One that was given up stays so.
func (h *Hold) Move(from uint64) {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	if _, held := h.of.all[h]; held {
		h.of.all[h] = from
	}
}

// Release ends the hold; the next trim removes what it kept. It may be called again.
func (h *Hold) Release() {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	delete(h.of.all, h)
}

// GiveUpHolds ends all holds there are: what they keep takes too much space.
func (s *Store) GiveUpHolds() {
	s.holds.mu.Lock()
	defer s.holds.mu.Unlock()
	if len(s.holds.all) == 0 {
		return
	}
	s.metrics.holdsGivenUp.Add(float64(len(s.holds.all)))
	s.logger.Warn("log entries are kept for followers no longer: they take too much space; a follower that is behind is sent another snapshot",
		"followers", len(s.holds.all), "path", s.cfg.Path)
	clear(s.holds.all)
}

// count returns how many there are.
func (h *holds) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.all)
}

// before returns the last entry up to limit that none of them keeps.
func (h *holds) before(limit uint64) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, from := range h.all {
		limit = min(limit, max(from, 1)-1)
	}
	return limit
}

// unheld returns the last entry up to limit that may go from a log of used bytes that begins with first. Where nothing may that is not held,
// and it's too much, the holds go first.
func (s *Store) unheld(first, limit uint64, used int64) uint64 {
	free := s.holds.before(limit)
	if free < first && free < limit && used > s.cfg.HeldBytes {
		s.GiveUpHolds()
		return limit
	}
	return free
}
