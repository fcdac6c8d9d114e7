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
		{Name: "disk-full", About: "the leader's disk is full for a while", Survivable: true, needs: survivable, strike: breakDisk(victimIsDeposed, full)},
		{Name: "disk-full-majority", About: "the disks of a majority are full for a while", needs: needs, strike: breakDisk(victimsAreMost, full)},
		{Name: "slow-fsync", About: "a node's fsyncs take long", Survivable: true, needs: survivable, strike: breakDisk(victimIsAny, slow)},
		{Name: "hung-fsync", About: "the leader's fsyncs don't return", Survivable: true, needs: survivable, strike: breakDisk(victimIsDeposed, hung)},
		{Name: "failing-fsync", About: "a node's fsyncs fail", Survivable: true, needs: survivable, strike: breakDisk(victimIsAny, failing)},
		{Name: "read-only-disk", About: "a node's disk can't be written", Survivable: true, needs: survivable, strike: breakDisk(victimIsAny, readOnly)},
		{Name: "lose-unsynced", About: "power cut of a node: what it had not synced is gone", Survivable: true, needs: survivable, strike: cutPower(false, crash)},
		{Name: "lose-unsynced-all", About: "power cut of all nodes at once", needs: needs, strike: cutPower(true, crash)},
		{
			Name: "torn-write", About: "power cut of a node: of what it had not synced, some parts are there and some aren't", Survivable: true,
			needs: survivable, strike: cutPower(false, tear),
		},
		{Name: "torn-write-all", About: "the same, of all nodes at once", needs: needs, strike: cutPower(true, tear)},
	}
}

func disks() need   { return capability[nodes.Disks]("needs disks that go wrong (root and /dev/fuse)") }
func running() need { return capability[nodes.Running]("needs to know which nodes run") }

func victimLeads(ctx context.Context, s *Strike) ([]string, error) {
	victim, err := s.claimLeader(ctx)
	return []string{victim}, err
}

func victimIsDeposed(ctx context.Context, s *Strike) ([]string, error) {
	victims, err := victimLeads(ctx, s)
	if err == nil {
		s.depose(victims...)
	}
	return victims, err
}

// victimIsAny claims the leader with a probability of one half, else a follower.
func victimIsAny(ctx context.Context, s *Strike) ([]string, error) {
	if s.rand.IntN(2) == 0 {
		s.notes("the leader")
		return victimLeads(ctx, s)
	}
	victim, err := s.claimFollower(ctx)
	return []string{victim}, err
}

func victimsAreMost(ctx context.Context, s *Strike) ([]string, error) { return s.claimMajority(ctx) }

func full(s *Strike) disk.Faults {
	free := s.rand.Int64N(256 << 10) // some space is left, so that writes fail in the middle
	return disk.Faults{Free: &free}
}

func slow(s *Strike) disk.Faults {
	return disk.Faults{FsyncDelay: s.between(10*time.Millisecond, 300*time.Millisecond), FsyncJitter: s.between(0, 200*time.Millisecond)}
}

func hung(*Strike) disk.Faults     { return disk.Faults{HangFsync: true} }
func failing(*Strike) disk.Faults  { return disk.Faults{FailFsync: true} }
func readOnly(*Strike) disk.Faults { return disk.Faults{ReadOnly: true} }

// breakDisk injects faults into the disks of victims. Healing removes the faults and starts nodes
// that ended because of them.
func breakDisk(victims func(context.Context, *Strike) ([]string, error), how func(*Strike) disk.Faults) func(context.Context, *Strike) error {
	return func(ctx context.Context, s *Strike) error {
		names, err := victims(ctx, s)
		if err != nil {
			return err
		}
		for _, name := range names {
			broken, err := s.disk(name)
			if err != nil {
				return err
			}
			s.mayEnd = append(s.mayEnd, name)
			s.undo(surroundings, "heal the disk of "+name, func(context.Context) error {
				broken.Set(disk.Faults{})
				return nil
			})
			s.undo(process, "start "+name, func(ctx context.Context) error { return s.start(ctx, name) })
			broken.Set(how(s))
		}
		return nil
	}
}

func (s *Strike) disk(name string) (*disk.Disk, error) {
	fleet, has := nodes.As[nodes.Disks](s.n.Fleet)
	if !has {
		return nil, fmt.Errorf("disk of node %s: %s", name, disks().what)
	}
	d := fleet.Disk(name)
	if d == nil {
		return nil, fmt.Errorf("node %s has no disk of its own", name)
	}
	return d, nil
}

func crash(_ *Strike, d *disk.Disk) error { return d.Crash() }
func tear(s *Strike, d *disk.Disk) error  { return d.Tear(s.rand) }

// cutPower kills nodes and makes their disks lose data that was not synced.
func cutPower(all bool, lose func(*Strike, *disk.Disk) error) func(context.Context, *Strike) error {
	return func(ctx context.Context, s *Strike) error {
		count := 1
		if all {
			count = len(s.n.names())
		}
		victims, err := s.claimSome(ctx, count)
		if err != nil {
			return err
		}
		if err := s.kill(ctx, victims...); err != nil {
			return err
		}
		for _, name := range victims {
			d, err := s.disk(name)
			if err != nil {
				return err
			}
			before := d.Stats()
			if err := lose(s, d); err != nil {
				return fmt.Errorf("disk of node %s: %w", name, err)
			}
			after := d.Stats()
			s.notes("%s lost %d bytes of %d files and %d names", name,
				after.LostBytes-before.LostBytes, after.LostFiles-before.LostFiles, after.LostNames-before.LostNames)
		}
		return nil
	}
}
