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
	// DefaultReserve is the free space on the disk, in bytes, beyond what the next snapshot takes,
	// below which a node has "no space". The cluster needs it for elections, changes of membership
	// and deletions.
	DefaultReserve = 256 << 20
	// reserveShare is the divisor of the disk's size that bounds the reserve on a small disk.
	reserveShare = 4
	// hysteresisShare is the divisor of the reserve by which the free space must exceed the reserve
	// before the alarm clears, so that the alarm does not change with every write.
	hysteresisShare = 8
	// measureInterval is the time between measurements of a node's disk, and between the leader's
	// requests to the other voters.
	measureInterval = time.Second
	// idleInterval is the time between these requests while nobody writes and all voters have space.
	// Until the next one, what is written then is bounded by the room in the last reports.
	idleInterval = 3 * measureInterval
	// exhaustedShare is the divisor of the reserve that deletions leave.
	exhaustedShare = 2
	// snapshotFactor is how many bytes an entry's byte takes: in the log and in the next snapshot.
	snapshotFactor = 2
	// shortReserves is the multiple of the reserve below which space is short, so that the node
	// makes the log smaller before it has to refuse writes.
	shortReserves = 2
	// snapshotShare is the divisor of the reserve that must be left beside the next snapshot. Up to
	// there, deletions have used half of the reserve, and those under way some more.
	snapshotShare = 8
)

// level classifies the free space of a node. A node that does not respond has the lowest level.
type level int

const (
	unknownLevel level = iota
	exhausted          // less than half of the reserve: deletions wait until the log is smaller
	low                // less than the reserve: the leader accepts only deletions, which eventually free space
	sufficient
)

// measurement is the result of measuring this node's disk.
type measurement struct {
	level   level
	free    int64 // bytes, without those claimed
	claim   int64 // bytes that are set aside for others
	next    int64 // bytes that the next snapshot takes
	need    int64 // bytes: the reserve
	enough  int64 // bytes beyond next from which the level is sufficient
	written int64 // bytes that the log had written by then
	denied  bool  // the file system refuses to allocate space for the log
}

// spare returns the free bytes beyond those that the next snapshot takes.
func (m measurement) spare() int64 { return m.free - m.next }

// room returns how many bytes the disk can take before the leader refuses writes, and before
// deletions wait.
func (m measurement) room() (writes, deletions int64) {
	if m.denied {
		return 0, 0
	}
	return m.spare() - m.enough, m.spare() + m.claim - m.need/exhaustedShare
}

// message describes the problem of the disk of dir.
func (m measurement) message(dir string) string {
	if m.denied && m.free >= m.need {
		return fmt.Sprintf("the disk of %s has %d MiB left, but gives none to this node",
			dir, m.free>>20)
	}
	text := fmt.Sprintf("the disk of %s has %d MiB left, less than the reserve of %d MiB", dir, m.free>>20, m.need>>20)
	switch {
	case m.spare() >= m.need: // the alarm clears somewhat above the reserve
		text = fmt.Sprintf("the disk of %s has %d MiB left, and needs %d MiB again after it had less than the reserve",
			dir, m.free>>20, (m.next+m.enough)>>20)
	case m.free >= m.need:
		text = fmt.Sprintf("the disk of %s has %d MiB left, less than the next snapshot takes (up to %d MiB) and the reserve of %d MiB",
			dir, m.free>>20, m.next>>20, m.need>>20)
	}
	if m.claim > 0 {
		text += fmt.Sprintf(", besides %d MiB that the audit log may still take (lower --audit-log-max-size or --audit-log-max-files)", m.claim>>20)
	}
	return text
}

// hasFor reports whether the given number of snapshots fit, and for each of them the reserve
// besides.
func (m measurement) hasFor(snapshots int64) bool {
	return m.level == sufficient && m.free/snapshots-m.next >= m.need
}

// Space watches the free space of this node's disk. All methods are safe for concurrent use.
type Space struct {
	cfg    SpaceConfig
	latest atomic.Pointer[measurement] // nil until the disk has been measured
	due    chan struct{}               // holds one value when Run should measure at once
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
	Claim func() int64
	// Next returns how many bytes the next snapshot takes at most. Written returns a count of bytes
	// that rises by what each entry takes of the disk.
	Next, Written func() int64
	Alarms        *Alarms
	Lifecycle     *lifecycle.Lifecycle
	Logger        *slog.Logger
}

// NewSpace returns a Space that has measured nothing yet.
func NewSpace(cfg SpaceConfig) *Space { return &Space{cfg: cfg, due: make(chan struct{}, 1)} }

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
			case <-s.due:
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
	m, known := s.stat()
	if !known {
		return m
	}
	m.denied = log.OutOfSpace(l.Allocate())
	switch writes, deletions := m.room(); {
	case m.denied, deletions < 0: // what is only claimed is there for deletions
		m.level = exhausted
	case writes < 0:
		m.level = low
	default:
		m.level = sufficient
	}
	return m
}

// stat returns a measurement whose level is sufficient. known is false if the free space is
// unknown.
func (s *Space) stat() (m measurement, known bool) {
	written := s.cfg.Written() // first: what is written meanwhile counts twice, and not never
	var stat syscall.Statfs_t
	if err := syscall.Statfs(s.cfg.Dir, &stat); err != nil {
		s.cfg.Logger.Warn("free space of the disk unknown", "path", s.cfg.Dir, "error", err)
		return measurement{level: sufficient, free: math.MaxInt64}, false
	}
	block := blockSize(&stat)
	claim := s.cfg.Claim()
	m = measurement{
		level:   sufficient,
		free:    int64(uint64(stat.Bavail)*block) - claim,
		claim:   claim,
		next:    s.cfg.Next(),
		need:    reserveOf(&stat, s.cfg.Reserve),
		written: written,
	}
	m.enough = m.need
	if s.cfg.Alarms.IsRaised(NoSpace) {
		m.enough += m.need / hysteresisShare
	}
	return m, true
}

// ReserveOn returns the reserve in bytes that a node keeps on the disk of a folder, where at most the
// given one is wanted. If the disk can't be examined, that is the wanted one.
func ReserveOn(dir string, wanted int64) int64 {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return wanted
	}
	return reserveOf(&stat, wanted)
}

// reserveOf returns the reserve on a disk: a share of it, if that is less than wanted.
func reserveOf(stat *syscall.Statfs_t, wanted int64) int64 {
	return min(wanted, int64(uint64(stat.Blocks)*blockSize(stat)/reserveShare))
}

func (s *Space) update(m measurement) {
	s.latest.Store(&m)
	if m.level == sufficient {
		s.cfg.Alarms.Clear(NoSpace)
		return
	}
	s.cfg.Alarms.Raise(NoSpace, s.cfg.Node, m.message(s.cfg.Dir)) // logged once, with the figure of now
}

// WriteFailed handles a failed write to the log. After a write in doubt, memory may differ from the
// disk, so the node ends.
func (s *Space) WriteFailed(err error) {
	if errors.Is(err, log.ErrInDoubt) {
		s.cfg.Lifecycle.Fail(err)
	}
	if log.OutOfSpace(err) {
		s.Remeasure()
	}
}

// Remeasure makes Run measure the disk at once.
func (s *Space) Remeasure() {
	select {
	case s.due <- struct{}{}:
	default: // Run has not handled the previous one yet
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

// Room returns how many bytes the disk can take before the leader refuses writes, and before
// deletions wait: as of the latest measurement, without what the log has written since, which makes
// the next snapshot larger as well. Before the first measurement there is none.
func (s *Space) Room() (writes, deletions int64) {
	m := s.latest.Load()
	if m == nil {
		return 0, 0
	}
	since := snapshotFactor * (s.cfg.Written() - m.written)
	writes, deletions = m.room()
	return writes - since, deletions - since
}

// IsShort reports whether the log should be made smaller, because little is left beside the next
// snapshot and the reserve.
func (s *Space) IsShort() bool {
	m := s.latest.Load()
	return m != nil && m.spare() < shortReserves*m.need
}

// IsLow reports whether the level is not sufficient.
func (s *Space) IsLow() bool { return s.level() != sufficient }

// Reserve returns the reserve in bytes, 0 while the disk has not been measured.
func (s *Space) Reserve() int64 {
	if m := s.latest.Load(); m != nil {
		return m.need
	}
	return 0
}

// HasFor reports whether the given number of snapshots fit on the disk, and for each of them the
// reserve besides. It returns true while the disk has not been measured.
func (s *Space) HasFor(snapshots int64) bool {
	m := s.latest.Load()
	return m == nil || m.hasFor(snapshots)
}

// Fits measures the disk, and returns an error for the operator unless it has space for so many
// bytes of a snapshot from another node, with the same reserve beside them as a snapshot of this
// node leaves.
func (s *Space) Fits(bytes int64) error {
	m, known := s.stat()
	if !known || m.free+m.claim-bytes >= m.need/snapshotShare {
		return nil
	}
	return fmt.Errorf("the disk of %s has %d MiB left, and the snapshot of the leader takes %d MiB: free some, or enlarge it",
		s.cfg.Dir, (m.free+m.claim)>>20, bytes>>20)
}

// FitsNext measures the disk, and returns an error for the operator if the next snapshot does not
// fit.
func (s *Space) FitsNext() error {
	m, known := s.stat()
	if !known || m.spare()+m.claim >= m.need/snapshotShare {
		return nil
	}
	return fmt.Errorf("the disk of %s has %d MiB left, and a snapshot takes up to %d MiB: free some, or enlarge it",
		s.cfg.Dir, (m.free+m.claim)>>20, m.next>>20)
}
