package log

import "sync"

// minHeldMargin is the least number of bytes by which the held log may exceed MaxBytes.
const minHeldMargin = 1 << 30

// Hold keeps entries from being trimmed: those after a snapshot, while the snapshot is open or
// until a follower has received them. Held entries are exempt from MaxBytes and MaxAge, but not
// from Config.HeldBytes, so that a hung follower can't fill the disk.
type Hold struct{ of *holds }

// holds are the holds of one log.
type holds struct {
	trimming sync.Mutex // locked while a trim removes entries, so that a hold begins before or after
	mu       sync.Mutex // guards the fields below
	all      map[*Hold]uint64
}

// Hold keeps the stored entries from index from on until the caller releases the hold. It waits for
// a running trim.
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

// Move ends the hold on the entries before from. It has no effect on a hold that was given up.
func (h *Hold) Move(from uint64) {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	if _, held := h.of.all[h]; held {
		h.of.all[h] = from
	}
}

// Release ends the hold; the next trim may remove its entries. Further calls have no effect.
func (h *Hold) Release() {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	delete(h.of.all, h)
}

// GiveUpHolds ends all holds, because their entries take too much space.
func (s *Store) GiveUpHolds() {
	s.holds.mu.Lock()
	defer s.holds.mu.Unlock()
	if len(s.holds.all) == 0 {
		return
	}
	s.metrics.holdsGivenUp.Add(float64(len(s.holds.all)))
	s.logger.Warn("gave up all holds on log entries, which took too much space; a follower that is behind will receive another snapshot",
		"followers", len(s.holds.all), "path", s.cfg.Dir)
	clear(s.holds.all)
}

// count returns the number of holds.
func (h *holds) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.all)
}

// before returns the last entry before the first held one, at most limit.
func (h *holds) before(limit uint64) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, from := range h.all {
		limit = min(limit, max(from, 1)-1)
	}
	return limit
}

// releasable reports whether no hold keeps the entries up to index. If one does although the log
// exceeds HeldBytes, it gives up all holds.
func (s *Store) releasable(index uint64) bool {
	if s.holds.before(index) >= index {
		return true
	}
	if used, _ := s.segments.Bytes(); used <= s.cfg.HeldBytes {
		return false
	}
	s.GiveUpHolds()
	return true
}
