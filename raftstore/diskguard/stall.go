package diskguard

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/lifecycle"
	"quorate/raftstore/membership"
	"quorate/raftstore/transport"
)

// ErrDiskHung ends the process if a log write does not return.
var ErrDiskHung = errors.New("the disk of the data directory hangs; see the kernel's log, then restart this node")

// Stall makes a leader whose log write hangs give up leadership.
//
// Such a leader stops the whole cluster: its main loop hangs in the write while its heartbeats
// continue, so the other voters elect no leader (hashicorp/raft#503). Resign stops the heartbeats,
// and the other voters elect a leader after their timeout. If the disk recovers within
// StallConfig.Limit, this node follows the new leader, or continues to lead if there is none yet.
// Otherwise the process ends.
type Stall struct{ cfg StallConfig }

// StallConfig configures a Stall; all fields are required.
type StallConfig struct {
	Raft      *raft.Raft
	Transport *transport.Raft
	Members   *membership.Members
	Lifecycle *lifecycle.Lifecycle
	// Limit is how long Resign waits for the disk to recover before it ends the process.
	Limit  time.Duration
	Logger *slog.Logger
}

// NewStall returns the Stall of a node whose Raft is running.
func NewStall(cfg StallConfig) *Stall { return &Stall{cfg: cfg} }

// Resign gives up leadership because a log write has taken the given time. It does not wait, and
// does nothing if this node is the only voter.
func (s *Stall) Resign(took time.Duration) {
	if s.cfg.Members.Voters() == 1 {
		return
	}
	s.cfg.Logger.Error("giving up leadership: the log's disk hangs", "seconds", took.Seconds())
	s.cfg.Transport.Mute(true)
	s.cfg.Lifecycle.Go(s.awaitRecovery)
}

// awaitRecovery waits until Raft's main loop responds. It bootstraps Raft with no servers, a
// request that the main loop refuses in every state.
func (s *Stall) awaitRecovery() {
	alive := make(chan error, 1)
	s.cfg.Lifecycle.Go(func() { alive <- s.cfg.Raft.BootstrapCluster(raft.Configuration{}).Error() })
	timer := time.NewTimer(s.cfg.Limit)
	defer timer.Stop()
	select {
	case <-alive:
		s.cfg.Logger.Info("the log's disk works again")
		s.cfg.Transport.Mute(false)
	case <-timer.C:
		s.cfg.Lifecycle.Fail(fmt.Errorf("log write hangs for more than %s: %w", 2*s.cfg.Limit, ErrDiskHung))
	case <-s.cfg.Lifecycle.Closing():
	}
}
