package simulation

import (
	"cmp"
	"slices"
	"sync"
	"testing/synctest"
)

// calls holds the calls that goroutines make to the world, and each waits until the goroutine of
// the world has served it. When all goroutines wait, that goroutine serves the calls one at a time,
// sorted by name and not by their arrival, except those of paused processes.
type calls struct {
	mu    sync.Mutex
	wait  []*call       // guarded by mu
	woken chan struct{} // holds a value when there may be new ones
}

type call struct {
	by     *process
	name   string
	serve  func()
	served chan struct{}
}

// ask makes the world run a function for a goroutine of the process, and waits until it has. The
// name distinguishes the call from others that wait at the same time.
func (p *process) ask(name string, serve func()) {
	c := &call{by: p, name: p.node.name + " " + name, serve: serve, served: make(chan struct{})}
	p.w.calls.mu.Lock()
	p.w.calls.wait = append(p.w.calls.wait, c)
	p.w.calls.mu.Unlock()
	select {
	case p.w.calls.woken <- struct{}{}:
	default:
	}
	<-c.served
}

// first removes and returns the call to serve next. It returns nil if there is none, except calls
// of paused processes.
func (c *calls) first(w *World) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortStableFunc(c.wait, func(a, b *call) int { return cmp.Compare(a.name, b.name) })
	i := slices.IndexFunc(c.wait, func(c *call) bool { return c.by.ended || !w.now().Before(c.by.pausedUntil) })
	if i < 0 {
		return nil
	}
	next := c.wait[i]
	c.wait = slices.Delete(c.wait, i, i+1)
	return next
}

// serveCalls serves calls until all goroutines wait for time to pass or for an event of the world.
func (w *World) serveCalls() {
	for {
		synctest.Wait()
		c := w.calls.first(w)
		if c == nil {
			return
		}
		c.serve()
		close(c.served)
	}
}
