package workload

import (
	"math/rand/v2"
	"slices"
	"sync"

	"quorate/chaos/client"
)

// Target is a node that clients may use.
type Target struct {
	Name   string
	Client *client.Client
}

// Targets is the set of nodes that clients may use now. It may change while a load runs; all
// methods are safe for concurrent use.
type Targets struct {
	mu  sync.RWMutex
	all []Target // guarded by mu
}

// NewTargets returns a set of nodes.
func NewTargets(all ...Target) *Targets { return &Targets{all: slices.Clone(all)} }

// Add adds a node, and replaces one of the same name.
func (t *Targets) Add(one Target) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(slices.DeleteFunc(t.all, func(other Target) bool { return other.Name == one.Name }), one)
}

// Remove removes a node from the set. Existing streams of the node continue until it ends them.
func (t *Targets) Remove(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = slices.DeleteFunc(t.all, func(one Target) bool { return one.Name == name })
}

// All returns a copy of the current nodes.
func (t *Targets) All() []Target {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Clone(t.all)
}

// pick returns a random node; found is false if the set is empty.
func (t *Targets) pick(random *rand.Rand) (one Target, found bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if len(t.all) == 0 {
		return Target{}, false
	}
	return t.all[random.IntN(len(t.all))], true
}
