package gossip

import (
	"sync"
	"time"
)

// starts are the latest starts of the nodes that were heard of, alive or not. An earlier start is
// over, also where others have not missed it yet.
type starts struct {
	mu     sync.Mutex
	latest map[string]heard // guarded by mu; by node id
}

type heard struct {
	Meta
	at time.Time
}

func newStarts() *starts { return &starts{latest: map[string]heard{}} }

// hear takes note of a start. Nodes that were not heard of for long are forgotten.
func (s *starts) hear(m Meta, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, known := s.latest[m.NodeID]
	switch {
	case !known:
		for id, h := range s.latest {
			if now.Sub(h.at) > retryDeadFor {
				delete(s.latest, id)
			}
		}
	case newer(have.Meta, m):
		return
	}
	s.latest[m.NodeID] = heard{m, now}
}

// over reports whether a later start of the node was heard of.
func (s *starts) over(m Meta) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, known := s.latest[m.NodeID]
	return known && newer(have.Meta, m)
}
