package raftstore

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log"
)

// stablePause is how long the term and the vote wait before they are tried again on a full disk.
const stablePause = 100 * time.Millisecond

// stable is where Raft stores its term and vote. Raft panics when its term can't be stored. So on a full disk this one waits for space,
// which harms nobody; at any other failure it tells of it in one line, and ends the goroutine that would panic, once the node closes.
type stable struct {
	raft.StableStore
	failed func(error)
	ending <-chan struct{}
	begun  atomic.Bool // the first value is stored: the one that NewRaft stores on its caller's goroutine, before it starts its own
}

// unstorable is what stable panics with where nobody could close the node yet; openRaft returns it.
type unstorable struct{ error }

// Set implements raft.StableStore. It returns no error.
func (s *stable) Set(key, value []byte) error {
	return s.must(func() error { return s.StableStore.Set(key, value) })
}

// SetUint64 implements raft.StableStore. It returns no error.
func (s *stable) SetUint64(key []byte, value uint64) error {
	return s.must(func() error { return s.StableStore.SetUint64(key, value) })
}

func (s *stable) must(store func() error) error {
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
		panic(unstorable{err})
	}
	s.failed(err)
	<-s.ending
	runtime.Goexit()
	return err
}

// pause reports whether it is worth another try.
func (s *stable) pause() bool {
	select {
	case <-s.ending:
		return false
	case <-time.After(stablePause):
		return true
	}
}

// starting turns the panic of a start that can't store its term into its error.
func starting(start func() error) (err error) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case unstorable:
			err = reason.error
		default:
			panic(reason)
		}
	}()
	return start()
}
