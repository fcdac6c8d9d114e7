package readindex

import (
	"container/heap"
	"context"
	"sync"
	"sync/atomic"
)

// Applied wakes readers that wait for this node's state to reach an index.
type Applied struct {
	index atomic.Uint64

	mu      sync.Mutex
	waiting targets // a heap, the lowest target first
	stopped bool
}

// Index returns the index that the state has reached.
func (a *Applied) Index() uint64 { return a.index.Load() }

// Advance records that the state has reached index. One goroutine calls it, after it has published
// that state. It ignores an index below the current one.
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

// Stop makes all current and later waits return ErrStopped, because the state no longer advances.
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

// Await returns nil once the state has reached index. It returns ctx's error or ErrStopped
// otherwise.
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

// Waiting returns the number of waiting readers.
func (a *Applied) Waiting() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.waiting)
}

// register returns no target if the state has reached index. Advance stores the index before it
// locks, so checking again under the lock prevents a lost wake-up.
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
	at      int // position in the heap, -1 outside it
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
