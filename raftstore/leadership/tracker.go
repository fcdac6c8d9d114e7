package leadership

import (
	"context"
	"errors"
	"sync"
	"time"

	"quorate/raftstore/lifecycle"
)

// RetryInterval is the time after which a node repeats a request that failed for a temporary
// reason, unless a change of leadership wakes it earlier.
const RetryInterval = 20 * time.Millisecond

// Epoch is one term in which this node leads.
type Epoch struct {
	term  uint64
	ready chan struct{} // closed when an entry of this term has been applied here
	first uint64        // all entries from this index on are of this term; set before ready is closed
	ctx   context.Context
	end   context.CancelFunc
}

// NewEpoch returns an epoch that ends with ctx at the latest.
func NewEpoch(ctx context.Context, term uint64) *Epoch {
	e := &Epoch{term: term, ready: make(chan struct{})}
	e.ctx, e.end = context.WithCancel(ctx)
	return e
}

// Term returns the term that the node leads.
func (e *Epoch) Term() uint64 { return e.term }

// Ready returns a channel that closes when an entry of the epoch's term has been applied here.
func (e *Epoch) Ready() <-chan struct{} { return e.ready }

// IsReady reports whether Ready is closed.
func (e *Epoch) IsReady() bool {
	select {
	case <-e.ready:
		return true
	default:
		return false
	}
}

// Done returns a channel that closes when the epoch ends.
func (e *Epoch) Done() <-chan struct{} { return e.ctx.Done() }

// owns reports whether the entry at index is known to be of the epoch's term.
func (e *Epoch) owns(index uint64) bool { return e.IsReady() && index >= e.first }

// Tracker holds the current epoch, and wakes waiters at each change of leadership that this node
// learns of. All methods are safe for concurrent use.
type Tracker struct {
	life *lifecycle.Lifecycle

	mu      sync.Mutex
	current *Epoch        // nil while this node isn't leader
	changed chan struct{} // closed and replaced at each change
}

// NewTracker returns a tracker of a node that does not lead.
func NewTracker(life *lifecycle.Lifecycle) *Tracker {
	return &Tracker{life: life, changed: make(chan struct{})}
}

// Current returns the current epoch, nil while this node does not lead, and a channel that closes
// at the next change.
func (t *Tracker) Current() (*Epoch, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current, t.changed
}

// IsLeader reports whether this node believes that it leads. Only a quorum can confirm it.
func (t *Tracker) IsLeader() bool {
	e, _ := t.Current()
	return e != nil
}

// set replaces the current epoch and ends the former one.
func (t *Tracker) set(e *Epoch) {
	t.mu.Lock()
	before := t.current
	t.current = e
	t.mu.Unlock()
	if before != nil && before != e {
		before.end()
	}
	t.notify()
}

func (t *Tracker) notify() {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.changed)
	t.changed = make(chan struct{})
}

// WhileLeader calls fn each time this node has become a ready leader, and cancels fn's context when
// leadership ends. Calls of fn never overlap. WhileLeader returns nil when ctx is done or the store
// closes, and the error of fn if fn fails while this node still leads.
func (t *Tracker) WhileLeader(ctx context.Context, fn func(ctx context.Context) error) error {
	for ctx.Err() == nil { // awaitReady may return an epoch after ctx has ended
		e := t.awaitReady(ctx)
		if e == nil {
			return nil
		}
		if err := runWhile(ctx, e, fn); err != nil {
			return err
		}
		select {
		case <-e.Done():
		case <-ctx.Done():
		}
	}
	return nil
}

// runWhile runs fn until the epoch ends, and ignores an error that fn returns after that.
func runWhile(ctx context.Context, e *Epoch, fn func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.ctx, cancel)()
	err := fn(ctx)
	if err != nil && (ctx.Err() == nil || !errors.Is(err, context.Canceled) && e.ctx.Err() == nil) {
		return err
	}
	return nil
}

// awaitReady returns the current epoch once it is ready, and nil when ctx or the store ends.
func (t *Tracker) awaitReady(ctx context.Context) *Epoch {
	for {
		e, changed := t.Current()
		if e != nil && e.IsReady() && e.ctx.Err() == nil {
			return e
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.life.Closing():
			return nil
		case <-changed:
		}
	}
}
