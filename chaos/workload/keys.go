package workload

import (
	"fmt"
	"sync"
)

const (
	// keyOps is the number of operations after which a key is replaced by another one: a checker's
	// work on one key grows fast with its history.
	keyOps = 1000
	// keyDoubts is the corresponding number of writes of unknown outcome, each of which may take
	// effect at any later time.
	keyDoubts = 6
	// rivals is the approximate number of clients that use one key.
	rivals = 4
)

// slot holds the current key of several clients.
type slot struct {
	index int

	mu          sync.Mutex // guards all below
	generation  int
	ops, doubts int
}

// take returns the key for one operation.
func (s *slot) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ops >= keyOps || s.doubts >= keyDoubts {
		s.generation, s.ops, s.doubts = s.generation+1, 0, 0
	}
	s.ops++
	return s.key()
}

// look returns the key as it is now.
func (s *slot) look() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.key()
}

// doubt records a write of unknown outcome to key.
func (s *slot) doubt(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if key == s.key() {
		s.doubts++
	}
}

// key must be called with mu held.
func (s *slot) key() string { return fmt.Sprintf("r%d-%d", s.index, s.generation) }

// beliefs returns the beliefs of client i about the keys that it uses.
func (l *Load) beliefs(i int) []belief {
	count := min(len(l.slots), (rivals*len(l.slots)+l.Clients-1)/l.Clients)
	all := make([]belief, count)
	for j := range all {
		all[j].slot = l.slots[(i*len(l.slots)/l.Clients+j)%len(l.slots)]
	}
	return all
}
