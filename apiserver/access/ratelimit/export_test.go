package ratelimit

// Keys returns the number of keys in memory.
func (m *Meter) Keys() int {
	n := 0
	for i := range m.stripes {
		s := &m.stripes[i]
		s.mu.Lock()
		n += len(s.whole)
		s.mu.Unlock()
	}
	return n
}
