package readindex

import (
	"context"
	"errors"
	"sync"
	"time"

	"quorate/raftstore/gather"
)

const (
	// gatherFrom is the average number of readers from which a confirmation waits for readers.
	gatherFrom = 2
	// maxGather is the number of readers for which a confirmation waits at most. More save little.
	maxGather = 16
	// A confirmation waits for readers no longer than gatherFactor times as long as confirmations
	// take on average, and no longer than maxGatherWait.
	gatherFactor  = 4
	maxGatherWait = 2 * time.Millisecond
	// tookSamples is the number of confirmations over which that average is taken, roughly.
	tookSamples = 8
)

// ErrStopped reports that the batcher no longer serves readers.
var ErrStopped = errors.New("read index stopped")

// Source returns an index that a quorum has confirmed after the call began.
type Source func(ctx context.Context) (uint64, error)

// Batcher shares each confirmation among all readers that wait when it begins.
type Batcher struct {
	source  Source
	timeout time.Duration
	observe func(readers int, took time.Duration)
	wake    chan struct{} // gets a value when the next batch has enough readers
	timers  sync.Pool     // stopped *time.Timers
	policy  gather.Policy // used only by Run
	took    time.Duration // how long confirmations take on average; used only by Run

	mu      sync.Mutex
	next    *batch // readers that the next confirmation serves; nil if there are none
	enough  int    // readers in next that wake Run
	stopped bool
}

type batch struct {
	readers int
	done    chan struct{} // closed when index and err are set
	index   uint64
	err     error
}

// NewBatcher returns a batcher whose confirmations take at most timeout each. Unless observe is
// nil, the batcher calls it after each confirmation.
func NewBatcher(source Source, timeout time.Duration, observe func(readers int, took time.Duration)) *Batcher {
	return &Batcher{
		source: source, timeout: timeout, observe: observe, wake: make(chan struct{}, 1), enough: 1,
		policy: gather.Policy{From: gatherFrom, Max: maxGather},
	}
}

// Index returns an index that was confirmed after the call began. It waits until Run serves it or
// ctx ends.
func (b *Batcher) Index(ctx context.Context) (uint64, error) { return b.await(ctx, nil) }

// IndexWithin is Index with a limit, after which it returns context.DeadlineExceeded. It costs less
// than a context with that deadline.
func (b *Batcher) IndexWithin(ctx context.Context, limit time.Duration) (uint64, error) {
	timer, ok := b.timers.Get().(*time.Timer)
	if ok {
		timer.Reset(limit)
	} else {
		timer = time.NewTimer(limit)
	}
	defer func() {
		timer.Stop()
		b.timers.Put(timer)
	}()
	return b.await(ctx, timer.C)
}

// await joins the next batch and waits for its index.
func (b *Batcher) await(ctx context.Context, late <-chan time.Time) (uint64, error) {
	mine, err := b.join()
	if err != nil {
		return 0, err
	}
	select {
	case <-mine.done:
		return mine.index, mine.err
	case <-late:
		return 0, context.DeadlineExceeded
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (b *Batcher) join() (*batch, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped {
		return nil, ErrStopped
	}
	if b.next == nil {
		b.next = &batch{done: make(chan struct{})}
	}
	b.next.readers++
	if b.next.readers == b.enough {
		select {
		case b.wake <- struct{}{}:
		default:
		}
	}
	return b.next, nil
}

// Run serves one batch of readers after another until ctx ends. Then the remaining readers get
// ErrStopped.
func (b *Batcher) Run(ctx context.Context) error {
	defer b.stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-b.wake:
			b.gather(ctx)
			if ctx.Err() == nil {
				b.confirm(ctx)
			}
		}
	}
	return nil
}

// gather waits for as many readers as are usually there, if at least one waits.
func (b *Batcher) gather(ctx context.Context) {
	if !b.expect(b.policy.Expected()) {
		return
	}
	timer := time.NewTimer(min(gatherFactor*b.took, maxGatherWait))
	defer timer.Stop()
	select {
	case <-b.wake:
		b.policy.Waited(true)
	case <-timer.C:
		b.policy.Waited(false)
	case <-ctx.Done():
	}
}

// expect makes the reader that completes the next batch wake Run. It returns false if there is
// nothing to wait for: the batch has that many readers already, or none.
func (b *Batcher) expect(readers int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil || b.next.readers >= readers {
		return false
	}
	b.enough = readers
	return true
}

// take returns the next batch, nil if no reader waits.
func (b *Batcher) take() *batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	due := b.next
	b.next, b.enough = nil, 1
	return due
}

// waiting returns the number of readers in the next batch.
func (b *Batcher) waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		return 0
	}
	return b.next.readers
}

func (b *Batcher) confirm(ctx context.Context) {
	due := b.take()
	if due == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	start := time.Now()
	due.index, due.err = b.source(ctx)
	took := time.Since(start)
	b.took += (took - b.took) / tookSamples
	b.policy.Ended(due.readers + b.waiting())
	close(due.done)
	if b.observe != nil {
		b.observe(due.readers, took)
	}
}

func (b *Batcher) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	if b.next != nil {
		b.next.err = ErrStopped
		close(b.next.done)
		b.next = nil
	}
}
