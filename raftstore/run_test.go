package raftstore

import (
	"errors"
	"testing"
	"testing/synctest"
)

// TestEndOfNodeThatCannotGoOn: a goroutine that waits for a Raft whose disk hangs holds up the end of the node for a moment only, whether
// the disk is known to hang before the node closes or while it does.
func TestEndOfNodeThatCannotGoOn(t *testing.T) {
	for name, known := range map[string]bool{"before_it_closes": true, "while_it_closes": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Store{lifecycle: lifecycle{failed: make(chan error, 1)}}
				raft := make(chan struct{})
				defer close(raft)
				hangs := func() error { <-raft; return nil }
				var failure error
				if known {
					failure = errDiskHung
				} else {
					s.fail(errDiskHung)
				}
				if err := s.join(failure, hangs); !errors.Is(err, errDiskHung) || !errors.Is(err, errCloseHangs) {
					t.Errorf("ended with %v", err)
				}
			})
		})
	}
	s := &Store{lifecycle: lifecycle{failed: make(chan error, 1)}}
	broken := errors.New("broken")
	if err := s.join(nil, func() error { return broken }); !errors.Is(err, broken) || errors.Is(err, errCloseHangs) {
		t.Errorf("ended with %v", err)
	}
}
