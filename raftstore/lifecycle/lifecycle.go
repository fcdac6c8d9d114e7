package lifecycle

import (
	"context"
	"sync"
	"time"

	"quorate/raftstore/failure"
)

// Lifecycle coordinates the end of a store. All methods are safe for concurrent use.
type Lifecycle struct {
	closing   chan struct{} // closed when the store begins to close
	closeOnce sync.Once
	failed    chan error // holds the first failure
	work      sync.WaitGroup

	mu       sync.RWMutex
	refusing bool // guarded by mu; set by CloseTasks
}

// New returns the lifecycle of a store that is open.
func New() *Lifecycle {
	return &Lifecycle{closing: make(chan struct{}), failed: make(chan error, 1)}
}

// Check returns failure.ErrClosed once the store is closing.
func (l *Lifecycle) Check() error {
	select {
	case <-l.closing:
		return failure.ErrClosed
	default:
		return nil
	}
}

// Closing returns a channel that closes when the store begins to close.
func (l *Lifecycle) Closing() <-chan struct{} { return l.closing }

// BeginClose marks the store as closing and calls then, on the first call only. Concurrent calls
// return after then has returned.
func (l *Lifecycle) BeginClose(then func()) {
	l.closeOnce.Do(func() {
		close(l.closing)
		then()
	})
}

// Fail ends the store with err. Only the first failure counts.
func (l *Lifecycle) Fail(err error) {
	select {
	case l.failed <- err:
	default:
	}
}

// Failed returns the channel that holds the first failure. Its only reader ends the store.
func (l *Lifecycle) Failed() <-chan error { return l.failed }

// StartTask counts a task that Wait waits for. After CloseTasks it counts nothing and returns
// false. The caller must call EndTask when the task ends.
func (l *Lifecycle) StartTask() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.refusing {
		return false
	}
	l.work.Add(1)
	return true
}

// EndTask ends a task that StartTask counted.
func (l *Lifecycle) EndTask() { l.work.Done() }

// Go runs fn as a task on a goroutine of its own. After CloseTasks it returns false without running
// fn.
func (l *Lifecycle) Go(fn func()) bool {
	if !l.StartTask() {
		return false
	}
	go func() {
		defer l.EndTask()
		fn()
	}()
	return true
}

// CloseTasks refuses further tasks. Wait may be called afterwards.
func (l *Lifecycle) CloseTasks() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusing = true
}

// Wait returns when all tasks have ended.
func (l *Lifecycle) Wait() { l.work.Wait() }

// Pause returns after d, when wake closes, or when ctx ends, whichever is first.
func Pause(ctx context.Context, wake <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-wake:
	case <-timer.C:
	}
}
