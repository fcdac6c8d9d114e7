package raftstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"
	"golang.org/x/sync/errgroup"

	"quorate/raftstore/direct"
	"quorate/raftstore/diskguard"
)

const (
	// closeLimit bounds each wait during closing for something that may hang: proposals that Raft
	// has, a transfer, Raft itself.
	closeLimit = 5 * time.Second
	// pruneInterval is the time between removals of what is no longer needed.
	pruneInterval = 5 * time.Second
	// membersInterval is the time between checks for servers that have left the configuration.
	membersInterval = time.Second
)

// errCloseHangs reports that Raft's own goroutines did not end, for instance because a disk hangs.
var errCloseHangs = errors.New("raft does not stop; its disk may hang")

// Run drives the store until ctx ends or the node can't continue, and then closes the store. Unless
// a failure ended the node, it first transfers leadership. It then refuses new work, waits for
// pending proposals, and closes Raft, connections and files. It returns the failure that ended the
// node and the errors of closing, nil if there are none.
func (s *Store) Run(ctx context.Context) error {
	inner, stop := context.WithCancel(context.Background()) // outlives ctx, because the goroutines run during the transfer of leadership
	defer stop()
	group, inner := errgroup.WithContext(inner)
	group.Go(func() error {
		return s.direct.Serve(s.cfg.Peers.Direct(direct.Streams), s.cfg.Peers.Direct(direct.Calls))
	})
	group.Go(func() error { return s.leadership.Follow(inner, s.writer.CommitInit) })
	group.Go(func() error { return s.leadership.FailOver(inner) })
	group.Go(func() error { return s.leadership.ProbeVoters(inner) })
	group.Go(func() error { return s.reader.Run(inner) })
	group.Go(func() error { return s.pins.Run(inner) })
	group.Go(func() error { return s.takeSnapshots(inner) })
	group.Go(func() error { return s.prune(inner) })
	group.Go(func() error { return s.disconnectFormer(inner) })
	group.Go(func() error { return s.proveReady(inner) })
	group.Go(func() error { return s.checksums.Run(inner) })
	group.Go(func() error { return s.space.Run(inner, s.log) })
	group.Go(func() error { return s.shortage.Run(inner) })
	s.leadership.SelfElect()

	var failure error
	select {
	case <-ctx.Done():
	case failure = <-s.life.Failed():
	case <-inner.Done():
	}
	if failure == nil {
		bounded, cancel := context.WithTimeout(context.Background(), closeLimit)
		s.leadership.HandOver(bounded)
		cancel()
	}
	s.beginClose()
	s.drainProposals()
	s.endDirect()
	stop()
	return errors.Join(s.join(failure, group.Wait), s.finishClose())
}

// join waits for Run's goroutines and returns their error together with failure, which is nil if
// ctx ended Run. If the node can't continue, for instance because a disk hangs, a goroutine may be
// waiting for a Raft library that does not respond. So after a failure, including one reported
// while join waits, join waits for at most closeLimit.
func (s *Store) join(failure error, wait func() error) error {
	over := make(chan error, 1)
	go func() { over <- wait() }()
	if failure == nil {
		select {
		case err := <-over:
			return err
		case failure = <-s.life.Failed():
		}
	}
	return errors.Join(failure, within(closeLimit, func() error { return <-over }))
}

// Close ends a store that never ran.
func (s *Store) Close() error {
	s.beginClose()
	return s.finishClose()
}

// beginClose refuses new work and ends watches.
func (s *Store) beginClose() {
	s.life.BeginClose(func() {
		s.EndStreams()
		s.hub.Close()
		if s.log.Stalled() { // for this write the log has called stalled already
			s.life.Fail(diskguard.ErrDiskHung)
		}
	})
}

// drainProposals gives pending proposals a short time to complete. Raft drops those that it has not
// begun.
func (s *Store) drainProposals() {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	s.writer.Drain(ctx)
}

// endDirect waits a short time for the requests of other nodes, of which beginClose accepts no more.
func (s *Store) endDirect() {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	s.direct.End(ctx)
}

// finishClose stops Raft and closes everything that Raft uses.
func (s *Store) finishClose() error {
	s.life.CloseTasks()
	s.applied.Stop()
	err := errors.Join(s.endRaft(), s.peers.Close())
	err = errors.Join(err, within(closeLimit, func() error { s.life.Wait(); return nil }))
	if errors.Is(err, errCloseHangs) {
		return err // Raft still uses the files; they close with the process
	}
	return errors.Join(err, s.closeFiles())
}

func (s *Store) endRaft() error {
	down := s.raft.Shutdown()
	s.transport.Abort()
	return within(closeLimit, down.Error)
}

// within returns fn's error, or errCloseHangs if fn takes longer than limit. In that case fn's
// goroutine leaks, and the process must end.
func within(limit time.Duration, fn func() error) error {
	over := make(chan error, 1)
	go func() { over <- fn() }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-over:
		return err
	case <-timer.C:
		return errCloseHangs
	}
}

// closeFiles closes the files that are open. Further calls return the error of the first.
func (s *Store) closeFiles() error {
	s.files.Do(func() {
		var errs []error
		if s.snapshots != nil {
			errs = append(errs, s.snapshots.Close())
		}
		if s.log != nil {
			errs = append(errs, s.log.Close())
		}
		if err := errors.Join(errs...); err != nil {
			s.filesErr = fmt.Errorf("close store: %w", err)
		}
	})
	return s.filesErr
}

// prune drops expired retained states, and what has arrived of a snapshot that this node no longer
// needs, until ctx ends.
func (s *Store) prune(ctx context.Context) error {
	ticker := time.NewTicker(pruneInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			s.retained.Prune(s.root(), now)
			s.prunePartial()
		}
	}
}

// prunePartial removes the part of a snapshot that has arrived, if this node has caught up
// otherwise, or if its disk is short of space and nothing more arrives.
func (s *Store) prunePartial() {
	err := s.snapshots.DiscardOutdated(s.Applied())
	if s.space.IsLow() {
		err = errors.Join(err, s.snapshots.DiscardIdle())
	}
	if err != nil {
		s.logger.Warn("could not remove a part of a snapshot", "error", err)
	}
}

// disconnectFormer closes the connections to and from servers that have left the configuration,
// until ctx ends. It closes them one membersInterval after it has noticed that a server left, so
// that a server that asked to leave receives the response. It does not refuse new connections; the
// handshake does.
func (s *Store) disconnectFormer(ctx context.Context) error {
	ticker := time.NewTicker(membersInterval)
	defer ticker.Stop()
	var servers, left []raft.Server
	for {
		for _, server := range left {
			if name := string(server.ID); name != s.cfg.Name && !s.members.Contains(name) {
				s.transport.Disconnect(name)
				s.logger.Info("closed connections: the node is no longer a member", "peer", name)
			}
		}
		left = slices.DeleteFunc(servers, func(m raft.Server) bool { return s.members.Contains(string(m.ID)) })
		s.peers.Retain(func(name string) bool {
			return s.members.Contains(name) || slices.ContainsFunc(left, func(m raft.Server) bool { return string(m.ID) == name })
		})
		servers = s.Servers()
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
