package snapshot

import (
	"errors"
	"fmt"
	"hash"
	"hash/crc64"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"quorate/raftstore/log/diskio"
)

const (
	// partialDir, beside snapshotsDir, holds what has arrived of the one snapshot that another node
	// is sending.
	partialDir = "snapshots-partial"
	// progressFile describes the partial snapshot: its content, and how much of it is synced, with
	// a checksum of that part.
	progressFile   = "progress"
	progressFormat = "1 %d %d %d %016x %d %016x\n"
	// syncBytes and syncInterval are how much of a partial snapshot is written between two syncs, and
	// how long it takes at most: what a kill of the process or a crash of the machine loses. The
	// syncs also spread the work that one at the end would cause.
	syncBytes    = 8 << 20
	syncInterval = 5 * time.Second
)

// ErrNotReceived reports that this node does not hold the whole content of a snapshot.
var ErrNotReceived = errors.New("the content of this snapshot has not been received")

// Content identifies the bytes of a snapshot's state file. Snapshots with the same Content have the
// same bytes, whichever nodes have written them.
type Content struct {
	Index, Term uint64 // of the last entry
	Size        int64
	Checksum    uint64 // CRC-64 (ECMA)
}

// newChecksum returns the hash of Content.Checksum.
func newChecksum() hash.Hash64 { return crc64.New(crc64.MakeTable(crc64.ECMA)) }

// partials holds at most one partial snapshot. It survives restarts, so that the sender need not
// begin again. All methods are safe for concurrent use, but only one Partial is open at a time.
type partials struct {
	dir string

	mu      sync.Mutex
	have    *progress // nil if there is none
	open    bool      // a Partial is open
	whole   bool      // since the start: all bytes have been compared with the checksum
	claimed bool      // the snapshot that is created next may take the file
}

// progress is the content of progressFile.
type progress struct {
	content Content
	synced  int64
	sum     uint64 // CRC-64 of the synced bytes
}

// load reads what an earlier process has left, and removes what it can't read.
func (ps *partials) load() error {
	b, err := os.ReadFile(filepath.Join(ps.dir, progressFile))
	if errors.Is(err, os.ErrNotExist) {
		return os.RemoveAll(ps.dir) // an interrupted removal may have left other files
	}
	if err != nil {
		return err
	}
	var p progress
	c := &p.content
	_, err = fmt.Sscanf(string(b), progressFormat, &c.Index, &c.Term, &c.Size, &c.Checksum, &p.synced, &p.sum)
	if err != nil || p.synced < 0 || p.synced > c.Size {
		return os.RemoveAll(ps.dir)
	}
	ps.have = &p
	return nil
}

// record replaces progressFile.
func (ps *partials) record(p progress) error {
	c := p.content
	name := filepath.Join(ps.dir, progressFile)
	f, err := os.Create(name + tmpSuffix)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, progressFormat, c.Index, c.Term, c.Size, c.Checksum, p.synced, p.sum)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(name+tmpSuffix, name); err != nil {
		return err
	}
	return diskio.SyncDir(ps.dir)
}

// remove removes the partial snapshot; mu is held. A crash in between leaves a folder that load
// removes.
func (ps *partials) remove() error {
	ps.have, ps.whole, ps.claimed = nil, false, false
	err := os.Remove(filepath.Join(ps.dir, progressFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.RemoveAll(ps.dir)
}

// Partial is the open file of a partial snapshot. It is for one goroutine.
type Partial struct {
	store   *Store
	content Content
	file    *os.File
	sum     hash.Hash64 // of the first offset bytes
	offset  int64
	synced  int64
	since   time.Time // of the last sync, or of the beginning
	whole   bool
	removed bool
}

// Receive opens the partial snapshot of a content for writing. It continues after the bytes that
// this node already holds, if these are undamaged, and otherwise begins with an empty file.
// It removes a partial snapshot of another content. The caller must close the Partial before the
// next call.
func (s *Store) Receive(c Content) (*Partial, error) {
	ps := &s.partials
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.open {
		return nil, errors.New("another snapshot is being received")
	}
	p, err := s.resume(c)
	if err == nil && p == nil {
		p, err = s.beginPartial(c)
	}
	if err != nil {
		return nil, fmt.Errorf("receive snapshot of index %d: %w", c.Index, err)
	}
	p.since = time.Now()
	ps.open, ps.whole, ps.claimed = true, false, false
	return p, nil
}

// resume opens the partial snapshot that is there. It returns nil if there is none of this content,
// or if it is damaged.
func (s *Store) resume(c Content) (*Partial, error) {
	ps := &s.partials
	if ps.have == nil {
		return nil, nil
	}
	if ps.have.content != c {
		s.discarded(discardSuperseded)
		return nil, nil
	}
	f, err := os.OpenFile(filepath.Join(ps.dir, stateFile), os.O_RDWR, 0)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err == nil {
		p := &Partial{store: s, content: c, file: f, sum: newChecksum()}
		if err = p.read(*ps.have); err == nil {
			return p, nil
		}
		err = errors.Join(err, f.Close())
	}
	s.logger.Warn("the received part of a snapshot is damaged: receiving it from the beginning",
		"index", c.Index, "bytes", ps.have.synced, "error", err)
	s.discarded(discardDamaged)
	return nil, nil
}

// read compares the synced bytes with their checksum, and drops the bytes after them.
func (p *Partial) read(have progress) error {
	n, err := io.CopyBuffer(p.sum, io.LimitReader(struct{ io.Reader }{p.file}, have.synced), make([]byte, copyBytes))
	switch {
	case err != nil:
		return err
	case n < have.synced:
		return fmt.Errorf("it has %d bytes instead of %d", n, have.synced)
	case p.sum.Sum64() != have.sum:
		return errors.New("its checksum does not match")
	}
	p.offset, p.synced = n, n
	return p.file.Truncate(n) // the file is positioned there
}

// beginPartial creates an empty partial snapshot, in place of any other.
func (s *Store) beginPartial(c Content) (*Partial, error) {
	ps := &s.partials
	if err := ps.remove(); err != nil {
		return nil, err
	}
	if err := os.Mkdir(ps.dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(ps.dir, stateFile))
	if err != nil {
		return nil, err
	}
	p := &Partial{store: s, content: c, file: f, sum: newChecksum()}
	start := progress{content: c, sum: p.sum.Sum64()}
	if err := errors.Join(ps.record(start), diskio.SyncDir(filepath.Dir(ps.dir))); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	ps.have = &start
	return p, nil
}

// Offset returns how many bytes the partial snapshot has.
func (p *Partial) Offset() int64 { return p.offset }

// Write appends bytes. It syncs them every syncBytes, and if the last sync was syncInterval ago.
func (p *Partial) Write(b []byte) (int, error) {
	if int64(len(b)) > p.content.Size-p.offset {
		return 0, fmt.Errorf("receive snapshot of index %d: more than its %d bytes", p.content.Index, p.content.Size)
	}
	n, err := p.file.Write(b)
	p.offset += int64(n)
	p.sum.Write(b[:n])
	if err == nil && (p.offset-p.synced >= syncBytes || time.Since(p.since) >= syncInterval) {
		err = p.sync()
	}
	if err != nil {
		return n, fmt.Errorf("receive snapshot of index %d: %w", p.content.Index, err)
	}
	return n, nil
}

// sync makes what was written survive a crash.
func (p *Partial) sync() error {
	if p.offset == p.synced {
		return nil
	}
	if err := p.file.Sync(); err != nil {
		return err
	}
	now := progress{content: p.content, synced: p.offset, sum: p.sum.Sum64()}
	ps := &p.store.partials
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if err := ps.record(now); err != nil {
		return err
	}
	ps.have, p.synced, p.since = &now, p.offset, time.Now()
	return nil
}

// Finish reports whether all bytes have arrived. If they have, it syncs them, and from then on the
// snapshot may be claimed. Bytes that do not match the checksum are removed, and the error is
// *Corrupt.
func (p *Partial) Finish() (bool, error) {
	switch {
	case p.offset < p.content.Size:
		return false, nil
	case p.sum.Sum64() != p.content.Checksum:
		p.store.metrics.corrupt.Inc()
		reason := fmt.Sprintf("of index %d, as received, is damaged: its checksum does not match", p.content.Index)
		return false, errors.Join(&Corrupt{Reason: reason}, p.discard(discardDamaged))
	}
	if err := p.sync(); err != nil {
		return false, fmt.Errorf("receive snapshot of index %d: %w", p.content.Index, err)
	}
	p.whole = true
	return true, nil
}

// Discard removes what has arrived, because the disk has no space for the rest. The Partial must
// still be closed.
func (p *Partial) Discard() error { return p.discard(discardNoSpace) }

func (p *Partial) discard(reason string) error {
	p.store.discarded(reason)
	p.removed = true
	ps := &p.store.partials
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.remove()
}

// Close syncs what has arrived, and closes the file, which stays for the next Receive.
func (p *Partial) Close() error {
	var err error
	if !p.removed {
		err = p.sync()
	}
	err = errors.Join(err, p.file.Close())
	ps := &p.store.partials
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.open, ps.whole = false, p.whole && !p.removed
	if err != nil {
		return fmt.Errorf("receive snapshot of index %d: %w", p.content.Index, err)
	}
	return nil
}
