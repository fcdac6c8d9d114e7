package simulation

import (
	"cmp"
	"slices"
	"sync"
	"testing/synctest"
)

// calls holds the calls that goroutines make to the world. Each call waits until the goroutine of
// the world has served it. That goroutine serves one call at a time, in the order of the callers'
// names, whatever order the calls arrived in.
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

// ask has the world run a function, on behalf of a goroutine of a process. The name tells it from
// others of the same moment.
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

// first takes the call that is to be served next; nil when there is none but of processes that are
// held up.
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

// serveCalls lets the goroutines run until all of them wait for time to pass, or for something of
// the world.
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
