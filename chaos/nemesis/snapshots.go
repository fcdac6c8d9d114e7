package nemesis

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	minSnapshots, maxSnapshots = 3, 8
	// A node is killed at most so long after a snapshot was ordered, or after its start with a
	// snapshot to come.
	maxSnapshotTime = 400 * time.Millisecond
	// behindCalms is how many times Calm the others write on while a node is down that is to come
	// back by a snapshot.
	behindCalms = 4
)

func snapshotFaults() []Fault {
	needs := outlived(operating())
	return []Fault{
		{
			Name: "snapshot-under-load", About: "nodes are told to write snapshots, several at a time", Survivable: true,
			needs: []need{operating()}, strike: func(context.Context, *Strike) error { return nil }, lasts: snapshots,
		},
		{
			Name: "install-snapshot", About: "a follower is down while the others write on, write snapshots and drop log", Survivable: true,
			needs: needs, strike: killFollower, lasts: fallBehind,
		},
		{
			Name: "kill-during-snapshot", About: "nodes are killed while they write a snapshot", Survivable: true,
			needs: needs, strike: claimToKillLater, lasts: killInSnapshots,
		},
		{
			Name: "kill-during-restore", About: "a follower that fell behind is killed again and again as it catches up", Survivable: true,
			needs: needs, strike: killFollower, lasts: killCatchingUp,
		},
	}
}

func snapshots(ctx context.Context, s *Strike) error {
	count := minSnapshots + s.rand.IntN(maxSnapshots-minSnapshots+1)
	for range count {
		if err := s.snapshotAll(ctx, s.shuffled(s.n.names())[:1+s.rand.IntN(len(s.n.names()))]); err != nil {
			return err
		}
		if err := Pause(ctx, s.between(0, minHold)); err != nil {
			return err
		}
	}
	return nil
}

// snapshotAll has nodes write snapshots, all at once. Each owes one.
func (s *Strike) snapshotAll(ctx context.Context, names []string) error {
	errs := make([]error, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		s.hurts(name)
		group.Go(func() {
			errs[i] = s.await(ctx, "snapshot of node "+name, func(ctx context.Context) error { return s.operateAt(ctx, name, "snapshot") })
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// fallBehind has the others write on and snapshot, so that the log that they keep begins after what
// the victim has, if it is kept short.
func fallBehind(ctx context.Context, s *Strike) error {
	victim := s.Nodes()[0]
	for range 2 { // a snapshot lets go of the log up to the one before it
		before := s.n.Writing()
		err := s.await(ctx, fmt.Sprintf("%d more writes acknowledged", behindCalms*s.n.Calm), func(context.Context) error {
			if more := s.n.Writing() - before; more < behindCalms*s.n.Calm {
				return fmt.Errorf("%d were", more)
			}
			return nil
		})
		if err != nil {
			return err
		}
		s.forgets(s.n.names()...) // where the log is kept short
		if err := s.snapshotAll(ctx, s.others(victim)); err != nil {
			return err
		}
	}
	return nil
}

func claimToKillLater(ctx context.Context, s *Strike) error {
	_, err := s.claimOne(ctx)
	return err
}

func killInSnapshots(ctx context.Context, s *Strike) error {
	victim := s.Nodes()[0]
	count := minSnapshots + s.rand.IntN(maxSnapshots-minSnapshots+1)
	s.notes("%d times", count)
	for range count {
		if err := s.killInSnapshot(ctx, victim); err != nil {
			return err
		}
		if err := s.start(ctx, victim); err != nil {
			return err
		}
		if err := s.awaitReady(ctx, victim); err != nil {
			return err
		}
	}
	return nil
}

// killInSnapshot kills a node at a random moment after a snapshot was ordered.
func (s *Strike) killInSnapshot(ctx context.Context, victim string) error {
	ordered, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		_ = s.operateAt(ordered, victim, "snapshot") // it is killed before it answers, or after: both are meant
	})
	defer group.Wait()
	defer cancel()
	if err := Pause(ctx, s.between(0, maxSnapshotTime)); err != nil {
		return err
	}
	return s.kill(ctx, victim)
}

func killCatchingUp(ctx context.Context, s *Strike) error {
	if err := fallBehind(ctx, s); err != nil {
		return err
	}
	return killAtStart(ctx, s)
}
