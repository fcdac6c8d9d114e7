package snapshot

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/raft"
)

// sink is a FileSnapshotSink that adds a checksum of meta.json, and removes its files if it fails.
type sink struct {
	raft.SnapshotSink
	store *Store
	dir   string // the temporary folder, which Close renames
	start time.Time
	bytes int64
	out   writtenOut
	done  bool
	err   error // of Close
	// adopted is the content of meta.json if the state file has arrived before (see adopt).
	adopted *meta
}

func (k *sink) Write(p []byte) (int, error) {
	n, err := k.SnapshotSink.Write(p)
	k.bytes += int64(n)
	if err == nil {
		err = k.out.upTo(k.dir, k.bytes)
	}
	if err != nil {
		return n, fmt.Errorf("write snapshot %s: %w", k.ID(), err)
	}
	return n, nil
}

// Close finishes the snapshot. Raft calls it again after the state machine; later calls return the
// same error.
func (k *sink) Close() error {
	if k.done {
		return k.err
	}
	k.done = true
	k.out.close()
	finish := k.finish
	if k.adopted != nil {
		finish = k.finishAdopted
	}
	if k.err = finish(); k.err != nil {
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
		return errors.Join(fmt.Errorf("write checksum of snapshot %s: %w", k.ID(), err), k.discard())
	}
	// gofail: var snapshotBeforeRename struct{}
	if err := k.SnapshotSink.Close(); err != nil {
		// FileSnapshotSink closes its file, but may leave the folder.
		return errors.Join(fmt.Errorf("finish snapshot %s: %w", k.ID(), err), os.RemoveAll(k.dir))
	}
	// gofail: var snapshotAfterRename struct{}
	return nil
}

// Cancel removes the unfinished snapshot.
func (k *sink) Cancel() error {
	if k.done {
		return nil
	}
	k.done = true
	k.out.close()
	k.store.metrics.failures.Inc()
	return k.discard()
}

// discard removes the unfinished snapshot. It ignores FileSnapshotSink's own error, which comes
// from writing buffered bytes of the snapshot (on a full disk) and leaves the folder in place.
func (k *sink) discard() error {
	err := k.SnapshotSink.Cancel()
	if left := os.RemoveAll(k.dir); left != nil {
		return fmt.Errorf("remove snapshot %s: %w", k.ID(), errors.Join(err, left))
	}
	return nil
}
