package raftstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// transfers watches over leadership transfers. One that is cut short by losing leadership can leave Raft convinced for ever
// that it goes on: elected again, the node refuses every write (hashicorp/raft#696). So transfers happen one at a time, only
// where an operator, the end of this process or a full disk asks for one, and a refusal that outlives them is fatal.
type transfers struct {
	grace time.Duration // how long Raft may take to notice that a transfer is over

	mu       sync.Mutex
	underway bool
	over     time.Time // when the last one ended
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
	t.underway, t.over = false, time.Now()
}

// refused is told that Raft refused a proposal because of a transfer; it fails when there can't be one.
func (t *transfers) refused(fail func(error)) {
	t.mu.Lock()
	legitimate := t.underway || time.Since(t.over) < t.grace
	t.mu.Unlock()
	if !legitimate {
		fail(errors.New("writes are refused for a leadership transfer that is long over (hashicorp/raft#696); restart this node"))
	}
}

// TransferLeadership hands leadership to a voter, or with no name to the one that has most of the log. It returns when
// this node has stopped leading; with an error it may lead on. Only leaving, a graceful stop and an operator may call it.
func (s *Store) TransferLeadership(name string) error {
	if err := s.open(); err != nil {
		return err
	}
	return s.transfer(name)
}

func (s *Store) transfer(name string) error {
	if !s.IsLeader() {
		return fmt.Errorf("transfer leadership: %w", ErrNotLeader)
	}
	if !s.transfers.begin() {
		return errors.New("transfer leadership: another transfer is under way")
	}
	defer s.transfers.end()
	target, err := s.heir(name)
	if err != nil {
		return fmt.Errorf("transfer leadership: %w", err)
	}
	s.logger.Info("transferring leadership", "to", name)
	// gofail: var transferBefore struct{}
	if target == nil {
		err = s.raft.LeadershipTransfer().Error()
	} else {
		err = s.raft.LeadershipTransferToServer(target.ID, target.Address).Error()
	}
	// gofail: var transferAfter struct{}
	if err != nil {
		return fmt.Errorf("transfer leadership: %w", err)
	}
	return nil
}

// heir finds the named voter; nil lets Raft choose.
func (s *Store) heir(name string) (*raft.Server, error) {
	others, _ := s.otherVoters()
	if len(others) == 0 {
		return nil, errors.New("there is no other voter")
	}
	if name == "" {
		return nil, nil
	}
	if name == s.cfg.Name {
		return nil, errors.New("this node leads already")
	}
	for _, server := range others {
		if string(server.ID) == name {
			return &server, nil
		}
	}
	return nil, fmt.Errorf("%s is not a voter", name)
}

// handOver gives leadership away before this node stops, so that the others need not wait for their election timeout.
func (s *Store) handOver(ctx context.Context) {
	if others, _ := s.otherVoters(); len(others) == 0 || !s.IsLeader() {
		return
	}
	done := make(chan error, 1)
	if !s.work.run(func() { done <- s.transfer("") }) {
		return
	}
	select {
	case err := <-done:
		if err != nil {
			s.logger.Warn("leadership not handed over", "error", err)
		}
	case <-ctx.Done():
		s.logger.Warn("leadership not handed over in time")
	}
}
