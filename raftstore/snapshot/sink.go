package snapshot

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/raft"
)

// sink is FileSnapshotSink that seals what it has written, and leaves nothing behind when it fails.
type sink struct {
	raft.SnapshotSink
	store *Store
	dir   string // where it writes until Close renames it
	start time.Time
	bytes int64
	done  bool
	err   error // of Close
}

func (k *sink) Write(p []byte) (int, error) {
	n, err := k.SnapshotSink.Write(p)
	k.bytes += int64(n)
	if err != nil {
		return n, fmt.Errorf("write snapshot %s: %w", k.ID(), err)
	}
	return n, nil
}

// Close finishes the snapshot. Called again, by Raft after the state machine, it returns the same.
func (k *sink) Close() error {
	if k.done {
		return k.err
	}
	k.done = true
	if k.err = k.finish(); k.err != nil {
		k.store.metrics.failures.Inc()
		return k.err
	}
	took := time.Since(k.start)
	k.store.metrics.writeSeconds.Observe(took.Seconds())
	k.store.logger.Info("snapshot written", "id", k.ID(), "bytes", k.bytes, "seconds", took.Seconds())
	return nil
}

func (k *sink) finish() error {
	if err := writeSeal(k.dir); err != nil {
		return errors.Join(fmt.Errorf("seal snapshot %s: %w", k.ID(), err), k.discard())
	}
	// gofail: var snapshotBeforeRename struct{}
	if err := k.SnapshotSink.Close(); err != nil {
		// It closes its file, but may leave the folder.
		return errors.Join(fmt.Errorf("finish snapshot %s: %w", k.ID(), err), os.RemoveAll(k.dir))
	}
	// gofail: var snapshotAfterRename struct{}
	return nil
}

// Cancel gives up the snapshot.
func (k *sink) Cancel() error {
	if k.done {
		return nil
	}
	k.done = true
	k.store.metrics.failures.Inc()
	return k.discard()
}

// discard removes what was written. FileSnapshotSink's own error is that of writing the rest of
// what is thrown away here (a full disk), after which it leaves the folder.
func (k *sink) discard() error {
	err := k.SnapshotSink.Cancel()
	if left := os.RemoveAll(k.dir); left != nil {
		return fmt.Errorf("remove snapshot %s: %w", k.ID(), errors.Join(err, left))
	}
	return nil
}
