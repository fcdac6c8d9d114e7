package raftstore

import (
	"errors"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log"
)

// failingStable fails as long as it has an error to fail with.
type failingStable struct {
	raft.StableStore
	failure atomic.Pointer[syscall.Errno]
	tries   chan struct{} // receives one value for each try that failed
}

func (f *failingStable) SetUint64(key []byte, value uint64) error {
	if failure := f.failure.Load(); failure != nil {
		f.tries <- struct{}{}
		return *failure
	}
	return f.StableStore.SetUint64(key, value)
}

// storing has a term stored on a goroutine of its own, as Raft does, after a first one that was. Over says whether it was.
type storing struct {
	disk   *failingStable
	ending chan struct{}
	failed chan error
	over   chan bool
}

func storeTerm(failure syscall.Errno) *storing {
	s := &storing{
		disk:   &failingStable{StableStore: raft.NewInmemStore(), tries: make(chan struct{})},
		ending: make(chan struct{}), failed: make(chan error, 1), over: make(chan bool, 1),
	}
	store := &stable{StableStore: s.disk, failed: func(err error) { s.failed <- err }, ending: s.ending}
	go func() {
		returned := false
		defer func() { s.over <- returned }()
		if store.SetUint64([]byte(log.CurrentTerm), 1) == nil {
			s.disk.failure.Store(&failure)
			returned = store.SetUint64([]byte(log.CurrentTerm), 2) == nil
		}
	}()
	<-s.disk.tries
	return s
}

// TestTermThatCannotBeStored ends the node with one line, where Raft would panic, and the goroutine of Raft's when the node closes.
func TestTermThatCannotBeStored(t *testing.T) {
	t.Parallel()
	s := storeTerm(syscall.EIO)
	if err := <-s.failed; !errors.Is(err, syscall.EIO) {
		t.Errorf("the node was told %v", err)
	}
	close(s.ending)
	if <-s.over {
		t.Error("Raft was told, and would panic")
	}
}

// TestTermOnAFullDisk: Raft's term waits for space, until the node closes.
func TestTermOnAFullDisk(t *testing.T) {
	t.Parallel()
	t.Run("space_comes_back", func(t *testing.T) {
		s := storeTerm(syscall.ENOSPC)
		<-s.disk.tries
		s.disk.failure.Store(nil)
		for waits := true; waits; {
			select {
			case <-s.disk.tries: // begun before
			case stored := <-s.over:
				waits = false
				if !stored || len(s.failed) > 0 {
					t.Error("it was not stored when there was space")
				}
			}
		}
	})
	t.Run("the_node_closes", func(t *testing.T) {
		s := storeTerm(syscall.ENOSPC)
		<-s.disk.tries
		close(s.ending)
		for waits := true; waits; {
			select {
			case <-s.disk.tries:
			case stored := <-s.over:
				waits = false
				if stored {
					t.Error("Raft was told, and would panic")
				}
			}
		}
	})
}

// TestStartThatCannotStoreItsTerm is an error: nobody could end a node that waits there.
func TestStartThatCannotStoreItsTerm(t *testing.T) {
	t.Parallel()
	for _, failure := range []syscall.Errno{syscall.EIO, syscall.ENOSPC} {
		disk := &failingStable{StableStore: raft.NewInmemStore(), tries: make(chan struct{}, 1)}
		disk.failure.Store(&failure)
		store := &stable{StableStore: disk, failed: func(error) { t.Error("nobody hears of it") }, ending: make(chan struct{})}
		cfg := raft.DefaultConfig()
		cfg.LocalID, cfg.LogOutput = "n1", t.Output()
		_, transport := raft.NewInmemTransport("")
		err := starting(func() error {
			_, err := raft.NewRaft(cfg, nil, raft.NewInmemStore(), store, raft.NewInmemSnapshotStore(), transport)
			return err
		})
		if !errors.Is(err, failure) {
			t.Errorf("%v, want %v", err, failure)
		}
	}
}
