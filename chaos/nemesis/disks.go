package nemesis

import (
	"context"
	"fmt"
	"time"

	"quorate/chaos/disk"
	"quorate/chaos/nodes"
)

func diskFaults() []Fault {
	needs := []need{disks(), running()}
	survivable := outlived(needs...)
	return []Fault{
		{Name: "disk-full", About: "the leader's disk is full for a while", Survivable: true, needs: survivable, inject: breakDisk(targetIsDeposed, full)},
		{Name: "disk-full-majority", About: "the disks of a majority are full for a while", needs: needs, inject: breakDisk(targetsAreMost, full)},
		{Name: "slow-fsync", About: "a node's fsyncs take long", Survivable: true, needs: survivable, inject: breakDisk(targetIsAny, slow)},
		{Name: "hung-fsync", About: "the leader's fsyncs don't return", Survivable: true, needs: survivable, inject: breakDisk(targetIsDeposed, hung)},
		{Name: "failing-fsync", About: "a node's fsyncs fail", Survivable: true, needs: survivable, inject: breakDisk(targetIsAny, failing)},
		{Name: "read-only-disk", About: "a node's disk can't be written", Survivable: true, needs: survivable, inject: breakDisk(targetIsAny, readOnly)},
		{Name: "lose-unsynced", About: "power cut of a node: what it had not synced is gone", Survivable: true, needs: survivable, inject: cutPower(false, crash)},
		{Name: "lose-unsynced-all", About: "power cut of all nodes at once", needs: needs, inject: cutPower(true, crash)},
		{
			Name: "torn-write", About: "power cut of a node: of what it had not synced, some parts are there and some aren't", Survivable: true,
			needs: survivable, inject: cutPower(false, tear),
		},
		{Name: "torn-write-all", About: "the same, of all nodes at once", needs: needs, inject: cutPower(true, tear)},
	}
}

func disks() need   { return capability[nodes.Disks]("needs disks that go wrong (root and /dev/fuse)") }
func running() need { return capability[nodes.Running]("needs to know which nodes run") }

func targetIsLeader(ctx context.Context, in *Injection) ([]string, error) {
	target, err := in.reserveLeader(ctx)
	return []string{target}, err
}

func targetIsDeposed(ctx context.Context, in *Injection) ([]string, error) {
	targets, err := targetIsLeader(ctx, in)
	if err == nil {
		in.depose(targets...)
	}
	return targets, err
}

// targetIsAny reserves the leader with a probability of one half, else a follower.
func targetIsAny(ctx context.Context, in *Injection) ([]string, error) {
	if in.rand.IntN(2) == 0 {
		in.notes("the leader")
		return targetIsLeader(ctx, in)
	}
	target, err := in.reserveFollower(ctx)
	return []string{target}, err
}

func targetsAreMost(ctx context.Context, in *Injection) ([]string, error) {
	return in.reserveMajority(ctx)
}

func full(in *Injection) disk.Faults {
	free := in.rand.Int64N(256 << 10) // some space is left, so that writes fail in the middle
	return disk.Faults{Free: &free}
}

func slow(in *Injection) disk.Faults {
	return disk.Faults{FsyncDelay: in.between(10*time.Millisecond, 300*time.Millisecond), FsyncJitter: in.between(0, 200*time.Millisecond)}
}

func hung(*Injection) disk.Faults     { return disk.Faults{HangFsync: true} }
func failing(*Injection) disk.Faults  { return disk.Faults{FailFsync: true} }
func readOnly(*Injection) disk.Faults { return disk.Faults{ReadOnly: true} }

// breakDisk injects faults into the disks of targets. Healing removes the faults and starts nodes
// that ended because of them.
func breakDisk(targets func(context.Context, *Injection) ([]string, error), how func(*Injection) disk.Faults) func(context.Context, *Injection) error {
	return func(ctx context.Context, in *Injection) error {
		names, err := targets(ctx, in)
		if err != nil {
			return err
		}
		for _, name := range names {
			broken, err := in.disk(name)
			if err != nil {
				return err
			}
			in.mayEnd = append(in.mayEnd, name)
			in.undo(surroundings, "heal the disk of "+name, func(context.Context) error {
				broken.Set(disk.Faults{})
				return nil
			})
			in.undo(process, "start "+name, func(ctx context.Context) error { return in.start(ctx, name) })
			faults := how(in)
			if faults.Free != nil {
				in.forgets(name) // it gives space back: a snapshot replaces the older part of its log
			}
			broken.Set(faults)
		}
		return nil
	}
}

func (in *Injection) disk(name string) (*disk.Disk, error) {
	fleet, has := nodes.As[nodes.Disks](in.n.Fleet)
	if !has {
		return nil, fmt.Errorf("disk of node %s: %s", name, disks().what)
	}
	d := fleet.Disk(name)
	if d == nil {
		return nil, fmt.Errorf("node %s has no disk of its own", name)
	}
	return d, nil
}

func crash(_ *Injection, d *disk.Disk) error { return d.Crash() }
func tear(in *Injection, d *disk.Disk) error { return d.Tear(in.rand) }

// cutPower kills nodes and makes their disks lose data that was not synced.
func cutPower(all bool, lose func(*Injection, *disk.Disk) error) func(context.Context, *Injection) error {
	return func(ctx context.Context, in *Injection) error {
		count := 1
		if all {
			count = len(in.n.names())
		}
		targets, err := in.reserveSome(ctx, count)
		if err != nil {
			return err
		}
		if err := in.kill(ctx, targets...); err != nil {
			return err
		}
		for _, name := range targets {
			d, err := in.disk(name)
			if err != nil {
				return err
			}
			before := d.Stats()
			if err := lose(in, d); err != nil {
				return fmt.Errorf("disk of node %s: %w", name, err)
			}
			after := d.Stats()
			in.notes("%s lost %d bytes of %d files and %d names", name,
				after.LostBytes-before.LostBytes, after.LostFiles-before.LostFiles, after.LostNames-before.LostNames)
		}
		return nil
	}
}
