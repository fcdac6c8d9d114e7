package nemesis

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	minSnapshots, maxSnapshots = 3, 8
	// maxSnapshotTime is the maximum delay until a node is killed after a snapshot was requested or
	// after its start.
	maxSnapshotTime = 400 * time.Millisecond
	// behindCalms times Calm is the number of writes while a node is down, so that it must be
	// restored from a snapshot.
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

// snapshotAll makes nodes write snapshots concurrently. All must succeed.
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

// fallBehind makes the others write and take snapshots, so that their logs begin after the victim's
// last entry, if they keep short logs.
func fallBehind(ctx context.Context, s *Strike) error {
	victim := s.Nodes()[0]
	for range 2 { // a snapshot compacts the log up to the previous one
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
		s.forgets(s.n.names()...) // if they keep short logs
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

// killInSnapshot kills a node at a random time after a snapshot was requested.
func (s *Strike) killInSnapshot(ctx context.Context, victim string) error {
	ordered, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		_ = s.operateAt(ordered, victim, "snapshot") // the node may be killed before it responds
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
