package diskguard

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/lifecycle"
	"quorate/raftstore/log"
)

// stableRetryInterval is how long Stable waits on a full disk before it tries to store a value
// again.
const stableRetryInterval = 100 * time.Millisecond

// Stable stores Raft's term and vote. Raft panics when it can't store its term. So on a full disk
// Stable waits for space, which harms nobody. After any other failure it ends the store with a
// one-line error, and, once the store closes, ends the goroutine that would panic.
type Stable struct {
	raft.StableStore
	life  *lifecycle.Lifecycle
	begun atomic.Bool // NewRaft stores the first value on its caller's goroutine, before it starts its own
}

// NewStable returns a Stable that stores in inner.
func NewStable(inner raft.StableStore, life *lifecycle.Lifecycle) *Stable {
	return &Stable{StableStore: inner, life: life}
}

// storeError is what Stable panics with before Raft runs, when closing the store could not end the
// caller; Start returns it.
type storeError struct{ error }

// Set implements raft.StableStore. It returns no error.
func (s *Stable) Set(key, value []byte) error {
	return s.must(func() error { return s.StableStore.Set(key, value) })
}

// SetUint64 implements raft.StableStore. It returns no error.
func (s *Stable) SetUint64(key []byte, value uint64) error {
	return s.must(func() error { return s.StableStore.SetUint64(key, value) })
}

func (s *Stable) must(store func() error) error {
	err := store()
	for s.begun.Load() && log.OutOfSpace(err) && s.pause() {
		err = store()
	}
	if err == nil {
		s.begun.Store(true)
		return nil
	}
	err = fmt.Errorf("the term or vote can't be stored; check the disk, then restart this node: %w", err)
	if !s.begun.Load() {
		panic(storeError{err})
	}
	s.life.Fail(err)
	<-s.life.Closing()
	runtime.Goexit()
	return err
}

// pause waits before the next try, and returns false when the store closes.
func (s *Stable) pause() bool {
	select {
	case <-s.life.Closing():
		return false
	case <-time.After(stableRetryInterval):
		return true
	}
}

// Start calls start, which starts Raft, and returns the error of a Stable that can't store the
// first value in place of its panic.
func Start(start func() error) (err error) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case storeError:
			err = reason.error
		default:
			panic(reason)
		}
	}()
	return start()
}
