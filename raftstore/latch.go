package raftstore

import (
	"context"
	"errors"
	"sync"

	"quorate/raftstore/state"
)

// maxLatchWaiters bounds the writes that wait for others to the same keys.
const maxLatchWaiters = 16 << 10

// errLatchesFull reports that too many writes wait already.
var errLatchesFull = errors.New("too many writes wait for others to the same objects")

// latches serialise the leader's writes to one key, so that hopeless entries rarely reach the log. They order nothing that
// must be ordered: preconditions are decided when an entry is applied. A release wakes all who wait, since most of them have
// become hopeless by what was applied, and can be told so at once.
type latches struct {
	metrics *metrics

	mu      sync.Mutex
	held    map[state.Key]chan struct{} // closed when released
	waiting int
}

func newLatches(m *metrics) *latches {
	return &latches{metrics: m, held: make(map[state.Key]chan struct{})}
}

// try takes the key's latch, or returns a channel that closes when its holder releases it.
func (l *latches) try(key state.Key) (released <-chan struct{}, got bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held, taken := l.held[key]; taken {
		return held, false
	}
	l.held[key] = make(chan struct{})
	return nil, true
}

func (l *latches) release(key state.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.held[key])
	delete(l.held, key)
}

// wait waits for a release, or for ctx to end.
func (l *latches) wait(ctx context.Context, released <-chan struct{}) error {
	if err := l.queue(); err != nil {
		return err
	}
	defer l.unqueue()
	select {
	case <-released:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *latches) queue() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == maxLatchWaiters {
		return errLatchesFull
	}
	l.waiting++
	l.metrics.latchWaits.Inc()
	l.metrics.latchWaiting.Set(float64(l.waiting))
	return nil
}

func (l *latches) unqueue() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting--
	l.metrics.latchWaiting.Set(float64(l.waiting))
}
