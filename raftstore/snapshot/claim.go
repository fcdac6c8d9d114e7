package snapshot

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"quorate/raftstore/log/diskio"
)

// Claim reserves the partial snapshot of a content for the next snapshot of this index and term
// that the library receives (see sink.ReadFrom). It returns ErrNotReceived unless all bytes are
// there and have been compared with the checksum since the start.
func (s *Store) Claim(c Content) error {
	ps := &s.partials
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.open || !ps.whole || ps.have.content != c {
		return fmt.Errorf("install snapshot of index %d: %w", c.Index, ErrNotReceived)
	}
	ps.claimed = true
	return nil
}

// DiscardOutdated removes a partial snapshot that this node no longer needs, because it has applied
// the entries up to the snapshot's index.
func (s *Store) DiscardOutdated(applied uint64) error {
	return s.discardIdle(discardOutdated, func(c Content) bool { return c.Index <= applied })
}

// DiscardIdle removes a partial snapshot that neither arrives nor is about to be installed, for a
// disk that is short of space.
func (s *Store) DiscardIdle() error {
	return s.discardIdle(discardNoSpace, func(Content) bool { return true })
}

func (s *Store) discardIdle(reason string, due func(Content) bool) error {
	ps := &s.partials
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.have == nil || ps.open || ps.claimed && reason != discardOutdated || !due(ps.have.content) {
		return nil
	}
	s.logger.Info("removing the received part of a snapshot", "index", ps.have.content.Index, "bytes", ps.have.synced, "reason", reason)
	s.discarded(reason)
	if err := ps.remove(); err != nil {
		return fmt.Errorf("remove the received part of a snapshot: %w", err)
	}
	return nil
}

// The reasons for which a partial snapshot is removed without being installed: values of the label
// "reason".
const (
	discardSuperseded = "superseded" // another snapshot arrives
	discardDamaged    = "damaged"    // it does not match its checksum
	discardOutdated   = "outdated"   // the node has applied its entries
	discardNoSpace    = "space"      // the disk is short of space
)

func (s *Store) discarded(reason string) { s.metrics.discarded.WithLabelValues(reason).Inc() }

// partialBytes returns how much of a snapshot has been received and synced.
func (s *Store) partialBytes() int64 {
	s.partials.mu.Lock()
	defer s.partials.mu.Unlock()
	if s.partials.have == nil {
		return 0
	}
	return s.partials.have.synced
}

// ReadFrom implements io.ReaderFrom, which the library uses when it receives a snapshot, and the
// state machine does not use when it writes one. If the content of the snapshot is claimed,
// ReadFrom takes over the file in which it has arrived, and reads nothing from r. The snapshot thus
// takes its size on the disk once.
func (k *sink) ReadFrom(r io.Reader) (int64, error) {
	if n, adopted, err := k.adopt(); adopted || err != nil {
		return n, err
	}
	return io.Copy(struct{ io.Writer }{k}, r)
}

// adopt makes the claimed partial snapshot the state file of this one, if it has the same index and
// term. It replaces the files that FileSnapshotSink would otherwise finish.
func (k *sink) adopt() (n int64, adopted bool, err error) {
	term, index, _ := indexOf(k.ID())
	ps := &k.store.partials
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if !ps.claimed || ps.have.content.Index != index || ps.have.content.Term != term {
		return 0, false, nil
	}
	c := ps.have.content
	m, err := readMeta(k.dir)
	if err != nil {
		return 0, false, fmt.Errorf("read snapshot %s: %w", k.ID(), err)
	}
	m.Size, m.CRC = c.Size, binary.BigEndian.AppendUint64(nil, c.Checksum)
	if err := k.discard(); err != nil { // closes the empty state file
		return 0, false, err
	}
	err = os.Mkdir(k.dir, 0o755)
	if err == nil {
		err = os.Rename(filepath.Join(ps.dir, stateFile), filepath.Join(k.dir, stateFile))
	}
	if err == nil {
		err = ps.remove()
	}
	if err != nil {
		return 0, false, fmt.Errorf("create snapshot %s: %w", k.ID(), err)
	}
	k.adopted, k.bytes = m, c.Size
	return c.Size, true, nil
}

// finishAdopted does what FileSnapshotSink's Close does for its own state file.
func (k *sink) finishAdopted() error {
	if err := writeMeta(k.dir, k.adopted); err != nil {
		return fmt.Errorf("write %s of snapshot %s: %w", metaFile, k.ID(), err)
	}
	if err := writeSeal(k.dir); err != nil {
		return fmt.Errorf("write checksum of snapshot %s: %w", k.ID(), err)
	}
	if err := os.Rename(k.dir, filepath.Join(k.store.dir, k.ID())); err != nil {
		return fmt.Errorf("finish snapshot %s: %w", k.ID(), err)
	}
	if err := errors.Join(diskio.SyncDir(k.store.dir), k.store.files.ReapSnapshots()); err != nil {
		return fmt.Errorf("finish snapshot %s: %w", k.ID(), err)
	}
	return nil
}

// writeMeta writes meta.json as FileSnapshotStore does.
func writeMeta(dir string, m *meta) error {
	f, err := os.Create(filepath.Join(dir, metaFile))
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(f).Encode(m), f.Sync(), f.Close())
}
