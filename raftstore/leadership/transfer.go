package leadership

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/failure"
)

// transferGraceTimeouts is the number of election timeouts after which Raft must have noticed the
// end of a transfer.
const transferGraceTimeouts = 4

// TransferGrace returns how long Raft may take to notice the end of a transfer. Automatic transfers
// must be at least that far apart.
func TransferGrace(timeout time.Duration) time.Duration { return transferGraceTimeouts * timeout }

// transfers tracks leadership transfers. If a node loses leadership during a transfer, Raft may
// assume forever that the transfer is in progress; when the node leads again, Raft then refuses
// every write (hashicorp/raft#696). Therefore only one transfer runs at a time, and only an
// operator, a leaving or stopping node and a full disk cause one. If Raft refuses a write although
// the last transfer ended long ago, the node ends (RefusedByTransfer).
type transfers struct {
	grace time.Duration

	mu       sync.Mutex
	underway bool
	ended    time.Time // when the last one ended
}

func (t *transfers) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.underway {
		return false
	}
	t.underway = true
	return true
}

func (t *transfers) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.underway, t.ended = false, time.Now()
}

// RefusedByTransfer handles a proposal that Raft refused because of a transfer. It ends the node
// unless a transfer is in progress or ended recently.
func (l *Leadership) RefusedByTransfer() {
	t := &l.transfers
	t.mu.Lock()
	legitimate := t.underway || time.Since(t.ended) < t.grace
	t.mu.Unlock()
	if !legitimate {
		l.cfg.Lifecycle.Fail(errors.New("writes are refused for a leadership transfer that is long over (hashicorp/raft#696); restart this node"))
	}
}

// Transfer transfers leadership to the named voter, or to the one that has most of the log if name
// is "". It returns once this node has stopped leading; after an error it may still lead.
func (l *Leadership) Transfer(name string) error {
	if !l.IsLeader() {
		return fmt.Errorf("transfer leadership: %w", failure.ErrNotLeader)
	}
	if !l.transfers.begin() {
		return errors.New("transfer leadership: another transfer is under way")
	}
	defer l.transfers.end()
	target, err := l.transferTarget(name)
	if err != nil {
		return fmt.Errorf("transfer leadership: %w", err)
	}
	l.cfg.Logger.Info("transferring leadership", "to", name)
	// gofail: var transferBefore struct{}
	if target == nil {
		err = l.cfg.Raft.LeadershipTransfer().Error()
	} else {
		err = l.cfg.Raft.LeadershipTransferToServer(target.ID, target.Address).Error()
	}
	// gofail: var transferAfter struct{}
	if err != nil {
		return fmt.Errorf("transfer leadership: %w", err)
	}
	return nil
}

// transferTarget returns the named voter. If name is "", it returns nil, which lets Raft choose.
func (l *Leadership) transferTarget(name string) (*raft.Server, error) {
	others, _ := l.cfg.Members.OtherVoters()
	if len(others) == 0 {
		return nil, errors.New("there is no other voter")
	}
	if name == "" {
		return nil, nil
	}
	if name == l.cfg.Members.Name() {
		return nil, errors.New("this node leads already")
	}
	for _, server := range others {
		if string(server.ID) == name {
			return &server, nil
		}
	}
	return nil, fmt.Errorf("%s is not a voter", name)
}

// HandOver transfers leadership before this node stops, so that the other voters need not wait for
// their election timeout. It returns without a transfer if ctx ends first.
func (l *Leadership) HandOver(ctx context.Context) {
	if others, _ := l.cfg.Members.OtherVoters(); len(others) == 0 || !l.IsLeader() {
		return
	}
	done := make(chan error, 1)
	if !l.cfg.Lifecycle.Go(func() { done <- l.Transfer("") }) {
		return
	}
	select {
	case err := <-done:
		if err != nil {
			l.cfg.Logger.Warn("could not transfer leadership", "error", err)
		}
	case <-ctx.Done():
		l.cfg.Logger.Warn("leadership transfer did not finish in time")
	}
}
