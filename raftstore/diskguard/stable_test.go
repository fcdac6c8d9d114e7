package diskguard

import (
	"errors"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hashicorp/raft"

	"quorate/raftstore/lifecycle"
	"quorate/raftstore/log"
)

// failingStable fails while failure is set.
type failingStable struct {
	raft.StableStore
	failure atomic.Pointer[syscall.Errno]
	tries   chan struct{} // receives one value for each failed attempt
}

func (f *failingStable) SetUint64(key []byte, value uint64) error {
	if failure := f.failure.Load(); failure != nil {
		f.tries <- struct{}{}
		return *failure
	}
	return f.StableStore.SetUint64(key, value)
}

// storing stores a second term on a goroutine of its own, as Raft does. over receives whether the
// call returned.
type storing struct {
	disk *failingStable
	life *lifecycle.Lifecycle
	over chan bool
}

func storeTerm(failure syscall.Errno) *storing {
	s := &storing{
		disk: &failingStable{StableStore: raft.NewInmemStore(), tries: make(chan struct{})},
		life: lifecycle.New(), over: make(chan bool, 1),
	}
	store := NewStable(s.disk, s.life)
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

// The node ends with a one-line error where Raft would panic, and Raft's goroutine ends when the
// node closes.
func TestTermCannotBeStored(t *testing.T) {
	t.Parallel()
	s := storeTerm(syscall.EIO)
	if err := <-s.life.Failed(); !errors.Is(err, syscall.EIO) {
		t.Errorf("the node failed with %v", err)
	}
	s.life.BeginClose(func() {})
	if <-s.over {
		t.Error("the call returned an error, so Raft would panic")
	}
}

// Storing the term waits for space until the node closes.
func TestTermOnAFullDisk(t *testing.T) {
	t.Parallel()
	t.Run("space_comes_back", func(t *testing.T) {
		s := storeTerm(syscall.ENOSPC)
		<-s.disk.tries
		s.disk.failure.Store(nil)
		for waits := true; waits; {
			select {
			case <-s.disk.tries: // an attempt that began before
			case stored := <-s.over:
				waits = false
				if !stored || len(s.life.Failed()) > 0 {
					t.Error("the term was not stored when there was space")
				}
			}
		}
	})
	t.Run("the_node_closes", func(t *testing.T) {
		s := storeTerm(syscall.ENOSPC)
		<-s.disk.tries
		s.life.BeginClose(func() {})
		for waits := true; waits; {
			select {
			case <-s.disk.tries:
			case stored := <-s.over:
				waits = false
				if stored {
					t.Error("the call returned an error, so Raft would panic")
				}
			}
		}
	})
}

// Start returns an error, because nothing could end a node that waits there.
func TestStartCannotStoreTerm(t *testing.T) {
	t.Parallel()
	for _, failure := range []syscall.Errno{syscall.EIO, syscall.ENOSPC} {
		disk := &failingStable{StableStore: raft.NewInmemStore(), tries: make(chan struct{}, 1)}
		disk.failure.Store(&failure)
		life := lifecycle.New()
		store := NewStable(disk, life)
		cfg := raft.DefaultConfig()
		cfg.LocalID, cfg.LogOutput = "n1", t.Output()
		_, transport := raft.NewInmemTransport("")
		err := Start(func() error {
			_, err := raft.NewRaft(cfg, nil, raft.NewInmemStore(), store, raft.NewInmemSnapshotStore(), transport)
			return err
		})
		if !errors.Is(err, failure) || len(life.Failed()) > 0 {
			t.Errorf("%v, want %v alone", err, failure)
		}
	}
}
