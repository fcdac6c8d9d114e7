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
)

// Config says where the log is and how much of it to keep. A zero limit means its default.
type Config struct {
	Path        string        // the bolt file; its folder must exist
	LockTimeout time.Duration // how long to wait for another process to let go of the file

	// Recent entries kept in memory, so that replication and apply read no disk. Both bounds hold.
	CacheBytes   int
	CacheEntries int

	// What is kept of the prefix that Raft no longer needs: bytes in use in the file, and the age of entries.
	MaxBytes int64
	MaxAge   time.Duration
	// HeldBytes is how many bytes may be in use before holds are given up: MaxBytes twice, or MaxBytes and 1 GiB, whichever is more.
	HeldBytes int64

	// OnStall is called once for each write still under way after StallLimit, from a goroutine of its own, with the time it has
	// taken so far. It must return soon and must not call Close. (hashicorp/raft#503: the library doesn't notice a hung disk.)
	StallLimit time.Duration
	OnStall    func(time.Duration)

	// OnError is called with the error of each write that failed, before it returns, on its goroutine. After one that is ErrInDoubt this
	// process must end.
	OnError func(error)

	// OnReset is called when DeleteRange has removed the whole log, with what was its last index, before DeleteRange returns and on
	// its goroutine: Raft's main one. If that index is beyond the newest snapshot's, Raft must not go on (hashicorp/raft#697): it
	// keeps believing in the removed last entry, refuses all appends for ever, and may vote for a candidate that lacks committed
	// entries. Then call Raft's Shutdown here, which ends it before it handles another message; wait for its future, and open Raft
	// again, on another goroutine.
	OnReset func(last uint64)

	Logger     *slog.Logger          // required
	Registerer prometheus.Registerer // nil: metrics are kept, but not published
}

// withDefaults fills in the limits left at zero and refuses what can't work.
func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Path == "":
		return c, errors.New("log: Config.Path is empty")
	case c.Logger == nil:
		return c, errors.New("log: Config.Logger is nil")
	case c.LockTimeout < 0 || c.CacheBytes < 0 || c.CacheEntries < 0 || c.MaxBytes < 0 || c.HeldBytes < 0 || c.MaxAge < 0 || c.StallLimit < 0:
		return c, errors.New("log: a limit in Config is negative")
	}
	orDefault(&c.LockTimeout, DefaultLockTimeout)
	orDefault(&c.CacheBytes, DefaultCacheBytes)
	orDefault(&c.CacheEntries, DefaultCacheEntries)
	orDefault(&c.MaxBytes, DefaultMaxBytes)
	orDefault(&c.HeldBytes, c.MaxBytes+max(c.MaxBytes, heldLeast))
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
