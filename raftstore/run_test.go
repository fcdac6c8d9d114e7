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
	"quorate/raftstore/snapshotrpc"
)

// A goroutine that waits for a Raft whose disk hangs delays the end of the node only for a moment,
// whether the disk hangs before the node closes or while it does.
func TestNodeEndsWhileGoroutineHangs(t *testing.T) {
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

// A node that closes reports that it can't continue, whether its disk hung before or hangs while
// the node closes.
func TestDiskHangsWhileClosing(t *testing.T) {
	for name, before := range map[string]bool{"before": true, "while_closing": false} {
		t.Run(name, func(t *testing.T) {
			told, disk, written := make(chan time.Duration, 1), make(chan struct{}), make(chan error)
			l, err := log.Open(log.Config{
				Dir: filepath.Join(t.TempDir(), "log"), Logger: slog.New(slog.DiscardHandler),
				StallLimit: time.Millisecond, OnStall: func(took time.Duration) { told <- took },
				OnError: func(error) { <-disk }, // blocks the write, which calls it
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
			s.receiver = snapshotrpc.NewReceiver(snapshotrpc.ReceiverConfig{Registerer: prometheus.NewRegistry()})
			if !before {
				s.beginClose()
			}
			go func() { written <- l.Set([]byte("key"), make([]byte, 1<<20)) }() // fails, because the value is too large
			took := <-told
			if before {
				s.beginClose()
			} else {
				s.stalled(took)
			}
			select {
			case err := <-s.life.Failed():
				if !errors.Is(err, diskguard.ErrDiskHung) {
					t.Errorf("reported %v", err)
				}
			default:
				t.Error("no error was reported")
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
