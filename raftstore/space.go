package raftstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"syscall"
	"time"

	"quorate/raftstore/log"
)

const (
	// DefaultDiskReserve is the space left on the disk at which a node has "no space". It is what a cluster still has to live on then:
	// elections, changes of membership, deletions.
	DefaultDiskReserve = 256 << 20
	// reserveShare: the reserve of a small disk is this part of it at most.
	reserveShare = 4
	// calmShare is by which part of the reserve the space must exceed it before the alarm is over, so that it doesn't flicker.
	calmShare = 8
	// spaceInterval is how often the disk is looked at, and the leader asks the other nodes.
	spaceInterval = time.Second
)

// room is how much space a node has. Nodes that don't answer have the least.
type room int

const (
	unknownRoom room = iota
	noRoom           // less than half of the reserve: nothing that can be refused is taken up
	littleRoom       // less than the reserve: deletions only, which make room in the long run
	enoughRoom
)

// space is what this node knows of its own disk.
type space struct {
	room room
	free int64 // bytes
	need int64 // bytes: the reserve
	held bool  // the file system sets nothing aside for the log, whatever is free
}

// message is what an operator is told.
func (p space) message(dir string) string {
	if p.held && p.free >= p.need {
		return fmt.Sprintf("the disk of %s has %d MiB left, but gives none to this node: raise its quota, or free some; writes go on by themselves then",
			dir, p.free>>20)
	}
	return fmt.Sprintf("the disk of %s has %d MiB left, less than the reserve of %d MiB: free some, or enlarge it; writes go on by themselves then",
		dir, p.free>>20, p.need>>20)
}

// followSpace raises and clears the alarms about this node's own disk, until ctx ends. A disk that hangs must not hold it.
func (s *Store) followSpace(ctx context.Context) error {
	ticker := time.NewTicker(spaceInterval)
	defer ticker.Stop()
	measured := make(chan space, 1)
	measuring := false
	for {
		if !measuring {
			measuring = s.life.Go(func() { measured <- s.measure() })
		}
		select {
		case <-ctx.Done():
			return nil
		case p := <-measured:
			measuring = false
			s.judgeSpace(p)
			select { // the next look
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			case <-s.outOfSpace:
			}
		case <-ticker.C:
		}
		s.judgeStall()
	}
}

// measure looks at the disk. That it can't be looked at is no alarm: the log says when a write fails.
func (s *Store) measure() space {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(s.cfg.DataDir, &stat); err != nil {
		s.logger.Warn("space on the disk not known", "path", s.cfg.DataDir, "error", err)
		return space{room: enoughRoom, free: math.MaxInt64}
	}
	block := blockSize(&stat)
	p := space{
		free: int64(uint64(stat.Bavail) * block),
		need: min(s.cfg.DiskReserve, int64(uint64(stat.Blocks)*block/reserveShare)),
	}
	calm := p.need
	if s.alarms.isRaised(NoSpace) {
		calm += p.need / calmShare
	}
	p.held = log.OutOfSpace(s.log.Allocate())
	switch {
	case p.held, p.free < p.need/2:
		p.room = noRoom
	case p.free < calm:
		p.room = littleRoom
	default:
		p.room = enoughRoom
	}
	return p
}

func (s *Store) judgeSpace(p space) {
	s.space.Store(&p)
	switch {
	case p.room == enoughRoom:
		s.alarms.clear(NoSpace)
	case !s.alarms.isRaised(NoSpace):
		s.alarms.raise(NoSpace, s.cfg.Name, p.message(s.cfg.DataDir))
	}
}

// judgeStall clears the alarm that stalled raises.
func (s *Store) judgeStall() {
	if !s.log.Stalled() {
		s.alarms.clear(DiskStalled)
	}
}

// ownRoom is how much space this node has.
func (s *Store) ownRoom() room {
	if p := s.space.Load(); p != nil {
		return p.room
	}
	return enoughRoom // not looked yet
}

// writeFailed is told of each write to the log that failed. After one in doubt, what is in memory may differ from what is on the disk.
func (s *Store) writeFailed(err error) {
	if errors.Is(err, log.ErrInDoubt) {
		s.life.Fail(err)
	}
	if log.OutOfSpace(err) {
		select {
		case s.outOfSpace <- struct{}{}:
		default: // told already
		}
	}
}

// roomForSnapshot reports whether a snapshot as large as the last leaves the reserve alone. Writing one into a disk that is too small
// for it would take the space of the log for that time.
func (s *Store) roomForSnapshot() bool { return s.roomForSnapshots(1) }

// roomForSnapshots reports whether the disk has so many times what a snapshot needs.
func (s *Store) roomForSnapshots(times int64) bool {
	p := s.space.Load()
	if p == nil {
		return true
	}
	size := int64(s.root().Bytes())
	if list, err := s.snapshots.List(); err == nil && len(list) > 0 {
		size = list[0].Size
	}
	return p.hasFor(times, size)
}

func (p space) hasFor(times, size int64) bool {
	return p.room == enoughRoom && p.free/times-size >= p.need
}
