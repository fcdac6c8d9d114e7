package log

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log/boltlog"
	"quorate/raftstore/log/segment"
	"quorate/raftstore/log/stable"
)

// copyBytes and copyEntries bound the entries that are copied with one sync.
const (
	copyBytes   = 4 << 20
	copyEntries = 4096
)

// copyBolt copies the log of a former build, if there is one, into a folder that has no segments yet.
// Entries before a damaged one are left out: the node has a snapshot that covers them, or Verify
// finds that it lacks them.
func copyBolt(cfg Config, dir string) error {
	from, err := boltlog.Open(cfg.BoltFile, cfg.LockTimeout)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		cfg.Logger.Info("copying the log of a former build", "component", "raftstore/log", "from", cfg.BoltFile, "to", cfg.Dir)
		err = errors.Join(copyValues(from, dir), copyEntriesOf(cfg, from, dir), from.Close())
	}
	var d *boltlog.Damage
	switch {
	case errors.As(err, &d):
		return &Corrupt{Index: d.Index, Path: cfg.BoltFile, Reason: d.Reason}
	case errors.Is(err, boltlog.ErrLocked):
		return fmt.Errorf("%s: %w", cfg.BoltFile, ErrLocked)
	case OutOfSpace(err):
		return fmt.Errorf("copy the log %s of a former build, which takes as much space again: free some on its disk: %w", cfg.BoltFile, err)
	case err != nil:
		return fmt.Errorf("copy the log %s of a former build: %w", cfg.BoltFile, err)
	}
	return nil
}

func copyValues(from *boltlog.Log, dir string) error {
	values, err := from.Values()
	if err != nil {
		return err
	}
	to, err := stable.Open(filepath.Join(dir, stableFile), false, 0)
	if err != nil {
		return err
	}
	return errors.Join(to.Set(values), to.Close())
}

func copyEntriesOf(cfg Config, from *boltlog.Log, dir string) error {
	to, err := segment.Open(segment.Config{Dir: dir, Capacity: cfg.SegmentBytes, Logger: cfg.Logger})
	if err != nil {
		return err
	}
	var batch []*raft.Log
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := to.Append(batch)
		batch, size = nil, 0
		return err
	}
	err = from.Entries(func(entry *raft.Log, damage error) error {
		if damage != nil {
			cfg.Logger.Warn("an entry of the former log is damaged; it and those before it are not copied", "component", "raftstore/log", "error", damage)
			batch, size = nil, 0
			return to.Reset()
		}
		batch, size = append(batch, entry), size+len(entry.Data)
		if size < copyBytes && len(batch) < copyEntries {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	return errors.Join(err, to.Close())
}
