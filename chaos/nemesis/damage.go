package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"quorate/chaos/disk"
	"quorate/chaos/nodes"
)

// tailLines is the number of log lines that are searched for the reason why a node ended.
const tailLines = 40

func damageFaults() []Fault {
	needs := []need{data(), running(), wiping(), operating(), atLeast(3)}
	return []Fault{
		{
			Name: "flip-log", About: "a bit of a node's log is turned over while it is down", Survivable: true,
			needs: needs, inject: damageNode(disk.FlipLog), lasts: startDamaged,
		},
		{
			Name: "tear-log", About: "sectors at the end of a node's log are zeros after it was down", Survivable: true,
			needs: needs, inject: damageNode(disk.TearLog), lasts: startDamaged,
		},
		{
			Name: "truncate-log", About: "the end of a node's log is cut off while it is down", Survivable: true,
			needs: needs, inject: damageNode(disk.TruncateLog), lasts: startDamaged,
		},
		{
			Name: "flip-snapshot", About: "a bit of a node's newest snapshot is turned over while it is down", Survivable: true,
			needs: needs, inject: snapshotFirst(damageNode(disk.FlipSnapshot)), lasts: startDamaged,
		},
		{
			Name: "delete-data", About: "a follower loses its data, is removed, and joins again by the same name", Survivable: true,
			needs: []need{wiping(), operating(), observing(), atLeast(3)}, inject: killForWipe, lasts: rejoin,
		},
	}
}

func data() need { return capability[nodes.Data]("needs access to the nodes' files") }

// damageNode kills a node and damages its files. When healed, the node rejoins with an empty
// directory.
func damageNode(how func(*rand.Rand, string) (string, error)) func(context.Context, *Injection) error {
	return func(ctx context.Context, in *Injection) error {
		target, err := in.reserveOne(ctx)
		if err != nil {
			return err
		}
		if err := in.reserveMembership(); err != nil {
			return err
		}
		if err := in.kill(ctx, target); err != nil {
			return err
		}
		in.willRejoin(target)
		fleet, has := nodes.As[nodes.Data](in.n.Fleet)
		if !has {
			return fmt.Errorf("damage node %s: %s", target, data().what)
		}
		done, err := how(in.rand, fleet.DataDir(target))
		if errors.Is(err, disk.ErrNothingToDamage) {
			return fmt.Errorf("%w: %w", ErrNoTarget, err)
		}
		in.notes("%s", done)
		return err
	}
}

// snapshotFirst makes all nodes write a snapshot before then.
func snapshotFirst(then func(context.Context, *Injection) error) func(context.Context, *Injection) error {
	return func(ctx context.Context, in *Injection) error {
		for _, name := range in.n.names() {
			if err := in.operateAt(ctx, name, "snapshot"); err != nil {
				in.log.Info("a snapshot was not written", "node", name, "error", err) // the target may have an older one
			}
		}
		return then(ctx, in)
	}
}

// startDamaged starts a node with damaged data. The node must become ready with the help of the
// others, or end without a crash. In both cases it then rejoins with an empty directory, because it
// could otherwise detect the damage at any later time.
func startDamaged(ctx context.Context, in *Injection) error {
	target := in.Nodes()[0]
	if err := in.start(ctx, target); err != nil {
		return err
	}
	gone := false
	err := in.await(ctx, "node "+target+" ready, or ended", func(ctx context.Context) (err error) {
		if gone, err = in.gone(ctx, target); gone || err != nil {
			return err
		}
		return in.ready(ctx, target)
	})
	if err == nil && gone {
		err = in.checkRefusal(target)
	}
	if err != nil {
		return err
	}
	return in.rejoinEmpty(ctx, target)
}

// checkRefusal returns an error if a node did not end with a log line for the operator, but
// crashed.
func (in *Injection) checkRefusal(name string) error {
	logs, has := in.n.Fleet.(interface {
		LogTail(name string, count int) (string, error)
	})
	if !has {
		return nil
	}
	tail, err := logs.LogTail(name, tailLines)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(tail), "\n")
	if i := slices.IndexFunc(lines, isCrashLine); i >= 0 {
		return &NotRecovered{Fault: in.fault.Name, What: "node " + name + " refuses damaged data with one line", Err: errors.New(lines[i])}
	}
	in.notes("%s refused: %s", name, lines[len(lines)-1])
	return nil
}

func killForWipe(ctx context.Context, in *Injection) error {
	if err := in.reserveMembership(); err != nil {
		return err
	}
	target, err := in.reserveFollower(ctx)
	if err != nil {
		return err
	}
	if err := in.kill(ctx, target); err != nil {
		return err
	}
	in.willRejoin(target)
	return nil
}

func rejoin(ctx context.Context, in *Injection) error { return in.rejoinEmpty(ctx, in.Nodes()[0]) }

// willRejoin records that a node loses its data. When healed, the node rejoins.
func (in *Injection) willRejoin(name string) {
	in.emptied, in.endings = append(in.emptied, name), append(in.endings, name)
	in.forgets(name)
	in.undo(membership, "rejoin "+name, func(ctx context.Context) error { return in.rejoinEmpty(ctx, name) })
}

// rejoinEmpty makes a node rejoin with an empty directory in the documented way: it is removed,
// wiped and started. It does nothing if that is done already.
func (in *Injection) rejoinEmpty(ctx context.Context, name string) error {
	if !slices.Contains(in.emptied, name) || !in.n.has(name) {
		return nil
	}
	if err := in.endLeaving(ctx, name); err != nil {
		return err
	}
	if err := in.remove(ctx, name); err != nil {
		return err
	}
	if err := in.wipe(ctx, name); err != nil {
		return err
	}
	in.log.Info("a node joins again with an empty directory", "node", name)
	if err := in.startUntilVoter(ctx, name); err != nil {
		return err
	}
	in.emptied = slices.DeleteFunc(in.emptied, func(other string) bool { return other == name })
	return nil
}

// startUntilVoter starts an empty node until it is a ready voter. The node's name is not free until
// the others have noticed that its former process is gone; until then the node ends, as documented.
func (in *Injection) startUntilVoter(ctx context.Context, name string) error {
	in.down[name] = true
	barred := false
	return in.await(ctx, "node "+name+" has joined again", func(ctx context.Context) error {
		if err := in.removeEnded(ctx, name, &barred); err != nil {
			return err
		}
		if err := in.start(ctx, name); err != nil { // no effect if the node runs
			return err
		}
		if err := in.ready(ctx, name); err != nil {
			return err
		}
		members, err := in.n.leaderView(ctx)
		if err != nil {
			return err
		}
		if m, listed := find(members, name); !listed || !votes(m) {
			return fmt.Errorf("its role is %q", m.Role)
		}
		return nil
	})
}

// removeEnded removes the member with the name of a node that ended before it was ready, and wipes
// the node. Such a member exists in two cases: a leader that was cut off has added a former process
// of the node, which was wiped since, or the leader has added this process but another node refused
// it. *barred is true from the removal until the node has been wiped, so that a further call
// completes it.
func (in *Injection) removeEnded(ctx context.Context, name string, barred *bool) error {
	if gone, err := in.gone(ctx, name); !gone || err != nil {
		return err
	}
	members, err := in.n.leaderView(ctx)
	_, listed := find(members, name)
	switch {
	case err != nil && !*barred:
		return nil // the node may start while there is no leader
	case err != nil:
		return err
	case listed:
		if !*barred {
			in.notes("%s was a member again before it had joined, and is removed again", name)
		}
		*barred = true
		if err := in.operateOnce(ctx, "remove", name); err != nil {
			return err
		}
	case !*barred:
		return nil
	}
	if err := in.wipe(ctx, name); err != nil {
		return err
	}
	*barred = false
	return nil
}

func (in *Injection) wipe(ctx context.Context, name string) error {
	wiper, has := nodes.As[nodes.Wiper](in.n.Fleet)
	if !has {
		return fmt.Errorf("wipe node %s: %s", name, wiping().what)
	}
	act, cancel := acting(ctx)
	defer cancel()
	if err := wiper.Wipe(act, name); err != nil {
		return fmt.Errorf("wipe node %s: %w", name, err)
	}
	return nil
}
