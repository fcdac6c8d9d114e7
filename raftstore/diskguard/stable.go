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

// stableRetryInterval is the time after which Stable tries again to store a value on a full disk.
const stableRetryInterval = 100 * time.Millisecond

// Stable stores Raft's term and vote. Raft panics if it can't store its term. So on a full disk
// Stable retries until there is space, and Raft waits. After any other failure, Stable ends the
// store with a one-line error, waits until the store closes, and then ends the calling goroutine,
// which would otherwise panic. If the first value can't be stored, Start returns the error.
type Stable struct {
	raft.StableStore
	life  *lifecycle.Lifecycle
	begun atomic.Bool // set after the first value, which NewRaft stores on its caller's goroutine
}

// NewStable returns a Stable that stores values in inner.
func NewStable(inner raft.StableStore, life *lifecycle.Lifecycle) *Stable {
	return &Stable{StableStore: inner, life: life}
}

// storeError is the value with which Stable panics before Raft runs, because it must not end the
// caller's goroutine. Start returns it as an error.
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

// pause waits before the next attempt. It returns false when the store closes.
func (s *Stable) pause() bool {
	select {
	case <-s.life.Closing():
		return false
	case <-time.After(stableRetryInterval):
		return true
	}
}

// Start calls start, which starts Raft. If a Stable panics because it can't store the first value,
// Start returns the error.
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
