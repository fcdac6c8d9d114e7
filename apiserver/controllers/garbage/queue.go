package garbage

import "quorate/raftstore/state"

// queue is a FIFO queue of distinct keys to check. All keys are in the graph, so the graph limits
// its length.
type queue struct {
	keys   []state.Key
	queued map[state.Key]struct{}
}

func newQueue() *queue { return &queue{queued: map[state.Key]struct{}{}} }

func (q *queue) add(key state.Key) {
	if _, there := q.queued[key]; there {
		return
	}
	q.queued[key] = struct{}{}
	q.keys = append(q.keys, key)
}

// take removes and returns up to n keys.
func (q *queue) take(n int) []state.Key {
	n = min(n, len(q.keys))
	taken := q.keys[:n:n]
	q.keys = q.keys[n:]
	for _, key := range taken {
		delete(q.queued, key)
	}
	if len(q.keys) == 0 {
		q.keys = nil // release the memory of the array
	}
	return taken
}

func (q *queue) len() int { return len(q.keys) }
