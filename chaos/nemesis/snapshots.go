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
			Name: "snapshot-under-load", About: "nodes write snapshots on request, several at a time", Survivable: true,
			needs: []need{operating()}, inject: func(context.Context, *Injection) error { return nil }, lasts: snapshots,
		},
		{
			Name: "install-snapshot", About: "a follower is down while the others write on, write snapshots and drop log", Survivable: true,
			needs: needs, inject: killFollower, lasts: fallBehind,
		},
		{
			Name: "kill-during-snapshot", About: "nodes are killed while they write a snapshot", Survivable: true,
			needs: needs, inject: reserveToKillLater, lasts: killInSnapshots,
		},
		{
			Name: "kill-during-restore", About: "a follower that fell behind is killed again and again as it catches up", Survivable: true,
			needs: needs, inject: killFollower, lasts: killCatchingUp,
		},
	}
}

func snapshots(ctx context.Context, in *Injection) error {
	count := minSnapshots + in.rand.IntN(maxSnapshots-minSnapshots+1)
	for range count {
		if err := in.snapshotAll(ctx, in.shuffled(in.n.names())[:1+in.rand.IntN(len(in.n.names()))]); err != nil {
			return err
		}
		if err := Pause(ctx, in.between(0, minHold)); err != nil {
			return err
		}
	}
	return nil
}

// snapshotAll makes nodes write snapshots concurrently. All must succeed.
func (in *Injection) snapshotAll(ctx context.Context, names []string) error {
	errs := make([]error, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		in.affects(name)
		group.Go(func() {
			errs[i] = in.await(ctx, "snapshot of node "+name, func(ctx context.Context) error { return in.operateAt(ctx, name, "snapshot") })
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

// fallBehind makes the others write and take snapshots, so that their logs begin after the target's
// last entry, if they keep short logs.
func fallBehind(ctx context.Context, in *Injection) error {
	target := in.Nodes()[0]
	for range 2 { // a snapshot compacts the log up to the previous one
		before := in.n.Writing()
		err := in.await(ctx, fmt.Sprintf("%d more writes acknowledged", behindCalms*in.n.Calm), func(context.Context) error {
			if more := in.n.Writing() - before; more < behindCalms*in.n.Calm {
				return fmt.Errorf("%d were", more)
			}
			return nil
		})
		if err != nil {
			return err
		}
		in.forgets(in.n.names()...) // if they keep short logs
		if err := in.snapshotAll(ctx, in.others(target)); err != nil {
			return err
		}
	}
	return nil
}

func reserveToKillLater(ctx context.Context, in *Injection) error {
	_, err := in.reserveOne(ctx)
	return err
}

func killInSnapshots(ctx context.Context, in *Injection) error {
	target := in.Nodes()[0]
	count := minSnapshots + in.rand.IntN(maxSnapshots-minSnapshots+1)
	in.notes("%d times", count)
	for range count {
		if err := in.killInSnapshot(ctx, target); err != nil {
			return err
		}
		if err := in.start(ctx, target); err != nil {
			return err
		}
		if err := in.awaitReady(ctx, target); err != nil {
			return err
		}
	}
	return nil
}

// killInSnapshot kills a node at a random time after a snapshot was requested.
func (in *Injection) killInSnapshot(ctx context.Context, target string) error {
	ordered, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		_ = in.operateAt(ordered, target, "snapshot") // the node may be killed before it responds
	})
	defer group.Wait()
	defer cancel()
	if err := Pause(ctx, in.between(0, maxSnapshotTime)); err != nil {
		return err
	}
	return in.kill(ctx, target)
}

func killCatchingUp(ctx context.Context, in *Injection) error {
	if err := fallBehind(ctx, in); err != nil {
		return err
	}
	return killAtStart(ctx, in)
}
