package diskguard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync/atomic"
	"syscall"
	"time"

	"quorate/raftstore/lifecycle"
	"quorate/raftstore/log"
)

const (
	// DefaultReserve is the free space on the disk, in bytes, below which a node has "no space".
	// The cluster needs it for elections, changes of membership and deletions.
	DefaultReserve = 256 << 20
	// reserveShare is the divisor of the disk's size that bounds the reserve on a small disk.
	reserveShare = 4
	// hysteresisShare is the divisor of the reserve by which the free space must exceed the reserve
	// before the alarm clears, so that the alarm does not change with every write.
	hysteresisShare = 8
	// measureInterval is the time between measurements of a node's disk, and between the leader's
	// requests to the other voters.
	measureInterval = time.Second
)

// level classifies the free space of a node. A node that does not respond has the lowest level.
type level int

const (
	unknownLevel level = iota
	exhausted          // less than half of the reserve: the leader refuses all writes
	low                // less than the reserve: the leader accepts only deletions, which eventually free space
	sufficient
)

// measurement is the result of measuring this node's disk.
type measurement struct {
	level  level
	free   int64 // bytes, without those claimed
	claim  int64 // bytes that are set aside for others
	need   int64 // bytes: the reserve
	denied bool  // the file system refuses to allocate space for the log
}

// message describes the problem of the disk of dir, and what an operator must do.
func (m measurement) message(dir string) string {
	if m.denied && m.free >= m.need {
		return fmt.Sprintf("the disk of %s has %d MiB left, but gives none to this node: raise its quota, or free some; writes then resume automatically",
			dir, m.free>>20)
	}
	text := fmt.Sprintf("the disk of %s has %d MiB left, less than the reserve of %d MiB", dir, m.free>>20, m.need>>20)
	if m.claim > 0 {
		text += fmt.Sprintf(", besides %d MiB that the audit log may still take (lower --audit-log-max-size or --audit-log-max-files)", m.claim>>20)
	}
	return text + ": free some, or enlarge it; writes then resume automatically"
}

// hasFor reports whether the given number of files of size bytes fit without using the reserve.
func (m measurement) hasFor(times, size int64) bool {
	return m.level == sufficient && m.free/times-size >= m.need
}

// Space watches the free space of this node's disk. All methods are safe for concurrent use.
type Space struct {
	cfg    SpaceConfig
	latest atomic.Pointer[measurement] // nil until the disk has been measured
	full   chan struct{}               // holds one value when a write found no space
}

// SpaceConfig configures a Space; all fields are required.
type SpaceConfig struct {
	Node string
	// Dir is the data directory.
	Dir string
	// Reserve is the free space in bytes below which the node counts as full. On a small disk it is
	// a quarter of the disk instead.
	Reserve int64
	// Claim returns how many bytes of that disk are set aside for others; they do not count as
	// free.
	Claim     func() int64
	Alarms    *Alarms
	Lifecycle *lifecycle.Lifecycle
	Logger    *slog.Logger
}

// NewSpace returns a Space that has measured nothing yet.
func NewSpace(cfg SpaceConfig) *Space { return &Space{cfg: cfg, full: make(chan struct{}, 1)} }

// Run raises and clears the alarms about this node's own disk, which has the log l, until ctx ends.
// A disk that hangs does not block Run.
func (s *Space) Run(ctx context.Context, l *log.Store) error {
	ticker := time.NewTicker(measureInterval)
	defer ticker.Stop()
	measured := make(chan measurement, 1)
	measuring := false
	for {
		if !measuring {
			measuring = s.cfg.Lifecycle.Go(func() { measured <- s.measure(l) })
		}
		select {
		case <-ctx.Done():
			return nil
		case m := <-measured:
			measuring = false
			s.update(m)
			select { // wait until the next measurement
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			case <-s.full:
			}
		case <-ticker.C:
		}
		if !l.Stalled() { // the store raises the alarm DiskStalled
			s.cfg.Alarms.Clear(DiskStalled)
		}
	}
}

// measure measures the disk. If that fails, it raises no alarm: failing writes to the log are
// reported separately.
func (s *Space) measure(l *log.Store) measurement {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(s.cfg.Dir, &stat); err != nil {
		s.cfg.Logger.Warn("free space of the disk unknown", "path", s.cfg.Dir, "error", err)
		return measurement{level: sufficient, free: math.MaxInt64}
	}
	block := blockSize(&stat)
	claim := s.cfg.Claim()
	m := measurement{
		free:  int64(uint64(stat.Bavail)*block) - claim,
		claim: claim,
		need:  min(s.cfg.Reserve, int64(uint64(stat.Blocks)*block/reserveShare)),
	}
	threshold := m.need
	if s.cfg.Alarms.IsRaised(NoSpace) {
		threshold += m.need / hysteresisShare
	}
	m.denied = log.OutOfSpace(l.Allocate())
	switch {
	case m.denied, m.free+m.claim < m.need/2: // what is only claimed is there for deletions
		m.level = exhausted
	case m.free < threshold:
		m.level = low
	default:
		m.level = sufficient
	}
	return m
}

func (s *Space) update(m measurement) {
	s.latest.Store(&m)
	switch {
	case m.level == sufficient:
		s.cfg.Alarms.Clear(NoSpace)
	case !s.cfg.Alarms.IsRaised(NoSpace):
		s.cfg.Alarms.Raise(NoSpace, s.cfg.Node, m.message(s.cfg.Dir))
	}
}

// WriteFailed handles a failed write to the log. After a write in doubt, memory may differ from the
// disk, so the node ends.
func (s *Space) WriteFailed(err error) {
	if errors.Is(err, log.ErrInDoubt) {
		s.cfg.Lifecycle.Fail(err)
	}
	if log.OutOfSpace(err) {
		select {
		case s.full <- struct{}{}:
		default: // Run has not handled the previous one yet
		}
	}
}

// level returns this node's level, sufficient if the disk has not been measured.
func (s *Space) level() level {
	if m := s.latest.Load(); m != nil {
		return m.level
	}
	return sufficient
}

// Exhausted reports whether less than half of the reserve is free.
func (s *Space) Exhausted() bool { return s.level() == exhausted }

// Free returns the free space in bytes, claimed or not. known is false while the disk has not been
// measured.
func (s *Space) Free() (bytes int64, known bool) {
	if m := s.latest.Load(); m != nil {
		return m.free + m.claim, true
	}
	return 0, false
}

// HasFor reports whether the given number of files of size bytes fit on the disk without using the
// reserve. It returns true while the disk has not been measured.
func (s *Space) HasFor(times, size int64) bool {
	m := s.latest.Load()
	return m == nil || m.hasFor(times, size)
}
