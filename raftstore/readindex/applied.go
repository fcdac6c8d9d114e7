package readindex

import (
	"container/heap"
	"context"
	"sync"
	"sync/atomic"
)

// Applied wakes those who wait for this node's state to reach an index.
type Applied struct {
	index atomic.Uint64

	mu      sync.Mutex
	waiting targets // a heap, the lowest target first
	stopped bool
}

// Index returns the index reached.
func (a *Applied) Index() uint64 { return a.index.Load() }

// Advance says that the state has reached index; one goroutine calls it, after publishing that state. An index below the
// one reached is allowed and changes nothing: what was seen once stays seen.
func (a *Applied) Advance(index uint64) {
	if index <= a.index.Load() {
		return
	}
	a.index.Store(index)
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.waiting) > 0 && a.waiting[0].index <= index {
		t := heap.Pop(&a.waiting).(*target)
		close(t.reached)
	}
}

// Stop wakes all who wait, and all who will, with ErrStopped: the state advances no more.
func (a *Applied) Stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped = true
	for _, t := range a.waiting {
		t.at = -1
		close(t.reached)
	}
	a.waiting = nil
}

// Await returns when the state has reached index, or with ctx's error or ErrStopped.
func (a *Applied) Await(ctx context.Context, index uint64) error {
	t, err := a.register(index)
	if t == nil {
		return err
	}
	select {
	case <-t.reached:
		if index > a.index.Load() {
			return ErrStopped
		}
		return nil
	case <-ctx.Done():
		a.unregister(t)
		return ctx.Err()
	}
}

// Waiting returns how many wait.
func (a *Applied) Waiting() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.waiting)
}

// register returns no target when there is nothing to wait for. Advance stores before it locks, so looking again under the lock
// misses no wake-up.
func (a *Applied) register(index uint64) (*target, error) {
	if index <= a.index.Load() {
		return nil, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case index <= a.index.Load():
		return nil, nil
	case a.stopped:
		return nil, ErrStopped
	}
	t := &target{index: index, reached: make(chan struct{})}
	heap.Push(&a.waiting, t)
	return t, nil
}

func (a *Applied) unregister(t *target) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t.at >= 0 {
		heap.Remove(&a.waiting, t.at)
	}
}

type target struct {
	index   uint64
	at      int // place in the heap, -1 when out of it
	reached chan struct{}
}

type targets []*target

func (t targets) Len() int           { return len(t) }
func (t targets) Less(i, j int) bool { return t[i].index < t[j].index }
func (t targets) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].at, t[j].at = i, j
}

func (t *targets) Push(x any) {
	added := x.(*target)
	added.at = len(*t)
	*t = append(*t, added)
}

func (t *targets) Pop() any {
	old := *t
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*t = old[:len(old)-1]
	last.at = -1
	return last
}
