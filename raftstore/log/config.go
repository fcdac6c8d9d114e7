package log

import (
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Defaults of Config's limits.
const (
	DefaultLockTimeout  = time.Second
	DefaultCacheBytes   = 32 << 20
	DefaultCacheEntries = 16 << 10
	DefaultMaxBytes     = 4 << 30
	DefaultMaxAge       = 24 * time.Hour
	DefaultStallLimit   = 5 * time.Second

	// DefaultSegmentBytes is the usual size of a file of the log.
	DefaultSegmentBytes = 16 << 20
)

// Config has the path of the log and its limits. A zero limit means its default.
type Config struct {
	Dir         string        // the folder of the log; its parent must exist
	BoltFile    string        // the log of a former build, which Open copies if there is no Dir
	LockTimeout time.Duration // how long to wait for another process to unlock the log
	// SegmentBytes is the size of a file of the log, and so the least that a trim removes.
	SegmentBytes int64

	// Bounds of the entries kept in memory, from which replication and apply read. Both apply.
	CacheBytes   int
	CacheEntries int

	// Bounds of the prefix kept although Raft no longer needs it: bytes of entries, and their age.
	MaxBytes int64
	MaxAge   time.Duration
	// HeldBytes is the number of bytes above which holds end: 2*MaxBytes or MaxBytes + 1 GiB,
	// whichever is greater.
	HeldBytes int64

	// OnStall is called once for each write that is still running after StallLimit, on a timer's
	// goroutine, with the time that the write has taken so far. It must return soon and must not
	// call Close. The library by itself does not notice a hung disk (hashicorp/raft#503).
	StallLimit time.Duration
	OnStall    func(time.Duration)

	// OnError is called with the error of each failed write, before the write returns, on its
	// goroutine. After an ErrInDoubt the process must end.
	OnError func(error)

	// OnReset is called after DeleteRange has removed the whole log, with the index of the last
	// removed entry. DeleteRange calls it before it returns, on Raft's main goroutine. If that
	// index is greater than the newest snapshot's, Raft must not continue (hashicorp/raft#697): it
	// still assumes the removed last entry, refuses all appends forever, and may vote for a
	// candidate that lacks committed entries. OnReset should then call Raft's Shutdown, which stops
	// Raft before it handles another message, and leave it to another goroutine to wait for
	// Shutdown's future and start Raft again.
	OnReset func(last uint64)

	Logger     *slog.Logger          // required
	Registerer prometheus.Registerer // nil: metrics are counted, but not published
}

// withDefaults replaces zero limits by their defaults and returns an error for an invalid Config.
func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Dir == "":
		return c, errors.New("log: Config.Dir is empty")
	case c.Logger == nil:
		return c, errors.New("log: Config.Logger is nil")
	case c.LockTimeout < 0 || c.SegmentBytes < 0 || c.CacheBytes < 0 || c.CacheEntries < 0 || c.MaxBytes < 0 || c.HeldBytes < 0 || c.MaxAge < 0 || c.StallLimit < 0:
		return c, errors.New("log: a limit in Config is negative")
	}
	orDefault(&c.LockTimeout, DefaultLockTimeout)
	orDefault(&c.SegmentBytes, DefaultSegmentBytes)
	orDefault(&c.CacheBytes, DefaultCacheBytes)
	orDefault(&c.CacheEntries, DefaultCacheEntries)
	orDefault(&c.MaxBytes, DefaultMaxBytes)
	orDefault(&c.HeldBytes, c.MaxBytes+max(c.MaxBytes, minHeldMargin))
	orDefault(&c.MaxAge, DefaultMaxAge)
	orDefault(&c.StallLimit, DefaultStallLimit)
	if c.OnStall == nil {
		c.OnStall = func(time.Duration) {}
	}
	if c.OnError == nil {
		c.OnError = func(error) {}
	}
	if c.OnReset == nil {
		c.OnReset = func(uint64) {}
	}
	return c, nil
}

func orDefault[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}
