package raftstore

import "sync"

// gate counts work under way that outlives a request, so that closing can refuse more and wait for what is there.
type gate struct {
	work sync.WaitGroup

	mu     sync.RWMutex
	closed bool
}

// enter returns false when the gate is closed; otherwise leave must be called once the work is done.
func (g *gate) enter() bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.closed {
		return false
	}
	g.work.Add(1)
	return true
}

func (g *gate) leave() { g.work.Done() }

// run runs fn on a goroutine that the gate waits for.
func (g *gate) run(fn func()) bool {
	if !g.enter() {
		return false
	}
	go func() {
		defer g.leave()
		fn()
	}()
	return true
}

// close lets nothing more in; wait may then be called.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

func (g *gate) wait() { g.work.Wait() }
