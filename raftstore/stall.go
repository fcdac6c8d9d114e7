package raftstore

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// stalled is told by the log that one of its writes has taken longer than the limit. A leader in that state stops everything:
// its main loop hangs in the write while its heartbeats go on, so nobody else is elected (hashicorp/raft#503). So the
// heartbeats are silenced, and the others elect another leader after their timeout. If the disk comes back, this node follows
// that one, or leads on when there is none yet; if it doesn't within the same time again, the process ends.
func (s *Store) stalled(took time.Duration) {
	s.alarms.raise(DiskStalled, s.cfg.Name, fmt.Sprintf("a write to the log of %s takes more than %s: look at its disk", s.cfg.DataDir, took.Truncate(time.Second)))
	if s.life.Check() != nil {
		s.life.Fail(errDiskHung) // a node that closes waits for a disk no longer
	}
	if !s.IsLeader() || s.members.Voters() == 1 {
		return
	}
	s.logger.Error("giving up leadership: the log's disk hangs", "seconds", took.Seconds())
	s.transport.Mute(true)
	s.life.Go(s.awaitRevival)
}

// awaitRevival waits for the main loop to answer. Bootstrapping with no servers is what it refuses in every state.
func (s *Store) awaitRevival() {
	alive := make(chan error, 1)
	s.life.Go(func() { alive <- s.raft.BootstrapCluster(raft.Configuration{}).Error() })
	timer := time.NewTimer(s.cfg.StallLimit)
	defer timer.Stop()
	select {
	case <-alive:
		s.logger.Info("the log's disk works again")
		s.transport.Mute(false)
	case <-timer.C:
		s.life.Fail(fmt.Errorf("log write hangs for more than %s: %w", 2*s.cfg.StallLimit, errDiskHung))
	case <-s.life.Closing():
	}
}

// errDiskHung is what the process ends with.
var errDiskHung = errors.New("the disk of the data directory hangs; see the kernel's log, then restart this node")
