package gossip

import (
	"sync"
	"time"
)

// starts holds the latest start that gossip has reported of each node, alive or not. An earlier
// start has ended, even if other nodes do not know that yet.
type starts struct {
	mu     sync.Mutex
	latest map[string]observation // guarded by mu; by node id
}

type observation struct {
	Meta
	at time.Time
}

func newStarts() *starts { return &starts{latest: map[string]observation{}} }

// observe records a start. When it records a new node it drops those that gossip has not reported
// for retryDeadFor.
func (s *starts) observe(m Meta, now time.Time) {
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
	s.latest[m.NodeID] = observation{m, now}
}

// over reports whether gossip has reported a later start of the node.
func (s *starts) over(m Meta) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, known := s.latest[m.NodeID]
	return known && newer(have.Meta, m)
}
