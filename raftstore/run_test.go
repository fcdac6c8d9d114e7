package raftstore

import (
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore/diskguard"
	"quorate/raftstore/forward"
	"quorate/raftstore/history"
	"quorate/raftstore/leadership"
	"quorate/raftstore/lifecycle"
	"quorate/raftstore/log"
)

// TestEndOfNodeThatCannotGoOn: a goroutine that waits for a Raft whose disk hangs holds up the end
// of the node for a moment only, whether the disk is known to hang before the node closes or while
// it does.
func TestEndOfNodeThatCannotGoOn(t *testing.T) {
	for name, known := range map[string]bool{"before_it_closes": true, "while_it_closes": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Store{life: lifecycle.New()}
				raft := make(chan struct{})
				defer close(raft)
				hangs := func() error { <-raft; return nil }
				var failure error
				if known {
					failure = diskguard.ErrDiskHung
				} else {
					s.life.Fail(diskguard.ErrDiskHung)
				}
				if err := s.join(failure, hangs); !errors.Is(err, diskguard.ErrDiskHung) || !errors.Is(err, errCloseHangs) {
					t.Errorf("ended with %v", err)
				}
			})
		})
	}
	s := &Store{life: lifecycle.New()}
	broken := errors.New("broken")
	if err := s.join(nil, func() error { return broken }); !errors.Is(err, broken) || errors.Is(err, errCloseHangs) {
		t.Errorf("ended with %v", err)
	}
}

// TestDiskThatHangsAtTheEnd: a node that closes is told that it can't go on, whether its disk hung
// before or hangs then.
func TestDiskThatHangsAtTheEnd(t *testing.T) {
	for name, before := range map[string]bool{"before": true, "then": false} {
		t.Run(name, func(t *testing.T) {
			told, disk, written := make(chan time.Duration, 1), make(chan struct{}), make(chan error)
			l, err := log.Open(log.Config{
				Path: filepath.Join(t.TempDir(), "log.db"), Logger: slog.New(slog.DiscardHandler),
				StallLimit: time.Millisecond, OnStall: func(took time.Duration) { told <- took },
				OnError: func(error) { <-disk }, // called within the write
			})
			if err != nil {
				t.Fatal(err)
			}
			hub, err := history.New(history.Config{})
			if err != nil {
				t.Fatal(err)
			}
			life := lifecycle.New()
			s := &Store{logger: slog.New(slog.DiscardHandler), life: life, leaders: leadership.NewTracker(life)}
			s.log, s.hub = l, hub
			s.alarms = diskguard.NewAlarms(s.logger, prometheus.NewRegistry())
			s.forwarded = forward.NewServer(nil, prometheus.NewRegistry())
			if !before {
				s.beginClose()
			}
			go func() { written <- l.Set(nil, nil) }() // no key: an error
			took := <-told
			if before {
				s.beginClose()
			} else {
				s.stalled(took)
			}
			select {
			case err := <-s.life.Failed():
				if !errors.Is(err, diskguard.ErrDiskHung) {
					t.Errorf("told %v", err)
				}
			default:
				t.Error("not told")
			}
			close(disk)
			if err := <-written; err == nil {
				t.Error("the write did not fail")
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
