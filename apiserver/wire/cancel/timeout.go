package cancel

import (
	"context"
	"sync"
	"time"
)

// Timeout is a context.Context that ends at its deadline, with its parent, or when its owner calls
// Stop, whichever is first. It is context.WithDeadline as a value of its owner.
//
// Until somebody waits for its end it has no timer, no channel, and nothing at its parent: most
// requests end before they wait for anything.
//
// Init must be called first, and a Timeout must not be copied afterwards. All methods are safe for
// concurrent use.
type Timeout struct {
	ended    Context // for the reason that Err returns
	deadline time.Time

	mu      sync.Mutex
	timer   *time.Timer // nil until somebody waits
	parents Wait        // for the parent's end, from then on
}

// Init sets the parent and the deadline, which is the parent's if that is earlier.
func (t *Timeout) Init(parent context.Context, deadline time.Time) {
	t.ended.Init(parent)
	t.deadline = deadline
	if at, ok := parent.Deadline(); ok && at.Before(deadline) {
		t.deadline = at
	}
}

// Stop ends the context with context.Canceled, unless it has ended, and releases its timer. The
// owner must call it.
func (t *Timeout) Stop() {
	if t.Err() == nil {
		t.ended.Cancel(nil)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
		t.parents.Stop()
	}
}

// Done implements context.Context.
func (t *Timeout) Done() <-chan struct{} {
	t.watch()
	return t.ended.Done()
}

// AfterFunc calls f on a goroutine of its own when the context has ended, as Context.AfterFunc does.
func (t *Timeout) AfterFunc(f func()) (stop func() bool) {
	t.watch()
	return t.ended.AfterFunc(f)
}

// Err implements context.Context. It also ends a context whose time has come.
func (t *Timeout) Err() error {
	if err := t.ended.Cause(); err != nil {
		return err
	}
	if err := t.ended.parent.Err(); err != nil {
		t.ended.Cancel(err)
	} else if !time.Now().Before(t.deadline) {
		t.ended.Cancel(context.DeadlineExceeded)
	}
	return t.ended.Cause()
}

// Deadline implements context.Context.
func (t *Timeout) Deadline() (time.Time, bool) { return t.deadline, true }

// Value implements context.Context.
func (t *Timeout) Value(key any) any { return t.ended.Value(key) }

// watch ends the context on its own from now on.
func (t *Timeout) watch() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil || t.ended.Cause() != nil {
		return
	}
	t.timer = time.AfterFunc(time.Until(t.deadline), t.expire)
	t.parents.Begin(t.ended.parent, (*follower)(t))
}

func (t *Timeout) expire() { t.ended.Cancel(context.DeadlineExceeded) }

// follower ends a Timeout with its parent.
type follower Timeout

// ContextEnded implements Target.
func (t *follower) ContextEnded(parent context.Context) { t.ended.Cancel(parent.Err()) }
