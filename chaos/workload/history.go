package workload

import (
	"sync"
	"time"
)

// Kind is what an operation did.
type Kind int

// The operations.
const (
	Create Kind = iota
	Replace
	Delete
	Read // quorum read of one key
	List // quorum list: Version is that of the list
)

func (k Kind) String() string { return [...]string{"create", "replace", "delete", "read", "list"}[k] }

// Op is one finished operation: an acknowledged write, a read, or a write whose outcome its client was not told.
type Op struct {
	Kind              Kind
	Key               string
	Node              string
	Invoked, Answered time.Time
	Version           uint64 // of the object read or written; 0: absent (read), not told (delete)
	Value             string // of the object read or written
	Unknown           bool   // a write that may or may not have happened, then or later
}

// History is everything that happened in a run.
type History struct {
	mu          sync.Mutex // guards the fields below
	ops         []Op
	unavailable int
	refused     []string // answers that no run should get
}

// maxRefused bounds the samples kept of answers that no run should get.
const maxRefused = 20

func (h *History) add(op Op) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, op)
}

func (h *History) addUnavailable() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unavailable++
}

func (h *History) addRefused(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.refused) < maxRefused {
		h.refused = append(h.refused, text)
	}
}

// Ops returns all operations recorded so far; the caller must not change them.
func (h *History) Ops() []Op {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ops[:len(h.ops):len(h.ops)]
}

// Unavailable is the number of requests that were surely not applied.
func (h *History) Unavailable() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unavailable
}

// Refused are samples of answers that a correct server never gives in a run.
func (h *History) Refused() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.refused...)
}
