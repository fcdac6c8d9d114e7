package snapshot

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log/diskio"
)

const (
	// sealFile is this package's file beside the two of FileSnapshotStore. It has a checksum of the
	// content of meta.json, which has none of its own.
	sealFile   = "seal"
	sealFormat = "1 %08x\n"
	copyBytes  = 1 << 20
)

// meta is the content of FileSnapshotStore's meta.json.
type meta struct {
	raft.SnapshotMeta
	CRC []byte // CRC-64 (ECMA) of the state file
}

// fileVersion identifies one version of a snapshot's state file.
type fileVersion struct {
	id       string
	size     int64
	modified time.Time
}

// metaChecksum returns a checksum of all that Raft reads from meta.json, except the size and the
// CRC. These are known only when the snapshot ends, and are checked against the state file.
func (m *meta) metaChecksum() uint32 {
	var b []byte
	for _, v := range []uint64{uint64(m.Version), m.Index, m.Term, m.ConfigurationIndex, uint64(len(m.Configuration.Servers))} {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	b = appendString(appendString(b, m.ID), string(m.Peers))
	for _, s := range m.Configuration.Servers {
		b = binary.BigEndian.AppendUint64(b, uint64(s.Suffrage))
		b = appendString(appendString(b, string(s.ID)), string(s.Address))
	}
	return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
}

func appendString(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
}

func readMeta(dir string) (*meta, error) {
	b, err := os.ReadFile(filepath.Join(dir, metaFile))
	if err != nil {
		return nil, err
	}
	m := &meta{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, &Corrupt{Reason: fmt.Sprintf("is damaged: its %s can't be decoded (%v)", metaFile, err)}
	}
	return m, nil
}

// writeSeal writes the checksum file of an unfinished snapshot, and syncs its folder.
func writeSeal(dir string) error {
	m, err := readMeta(dir)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, sealFile))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, sealFormat, m.metaChecksum())
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return diskio.SyncDir(dir)
}

// examine checks a snapshot, except for the content of its state file.
func (s *Store) examine(id string) (*meta, error) {
	dir := filepath.Join(s.dir, id)
	corrupt := func(reason string) error { return &Corrupt{ID: id, Path: dir, Reason: reason} }
	m, err := readMeta(dir)
	var c *Corrupt
	switch {
	case errors.As(err, &c):
		return nil, corrupt(c.Reason)
	case errors.Is(err, os.ErrNotExist) && exists(dir):
		return nil, corrupt("is damaged: it has no " + metaFile)
	case err != nil:
		return nil, fmt.Errorf("read snapshot %s: %w", id, err)
	}
	seal, err := os.ReadFile(filepath.Join(dir, sealFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read snapshot %s: %w", id, err)
	}
	if string(seal) != fmt.Sprintf(sealFormat, m.metaChecksum()) || m.ID != id {
		return nil, corrupt(fmt.Sprintf("is damaged: its %s does not match its %s", metaFile, sealFile))
	}
	info, err := os.Stat(filepath.Join(dir, stateFile))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, corrupt("is damaged: it has no " + stateFile)
	case err != nil:
		return nil, fmt.Errorf("read snapshot %s: %w", id, err)
	case info.Size() < m.Size:
		return nil, corrupt(fmt.Sprintf("is cut short: %d bytes of %d", info.Size(), m.Size))
	case info.Size() > m.Size:
		return nil, corrupt(fmt.Sprintf("is damaged: %d bytes where there should be %d", info.Size(), m.Size))
	}
	return m, nil
}

// verify checks all of a snapshot. If the state file was verified last and has not changed, verify
// does not read it again: at the start, Raft opens what SelectNewest has just verified.
func (s *Store) verify(id string) (*meta, error) {
	m, err := s.examine(id)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(s.dir, id, stateFile))
	if err != nil {
		return nil, fmt.Errorf("read snapshot %s: %w", id, err)
	}
	defer f.Close() // opened for reading
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read snapshot %s: %w", id, err)
	}
	now := fileVersion{id: id, size: info.Size(), modified: info.ModTime()}
	s.mu.Lock()
	known := s.verified == now
	s.mu.Unlock()
	if known {
		return m, nil
	}
	sum := newChecksum()
	if _, err := io.CopyBuffer(sum, struct{ io.Reader }{f}, make([]byte, copyBytes)); err != nil {
		return nil, fmt.Errorf("read snapshot %s: %w", id, err)
	}
	if !bytes.Equal(sum.Sum(nil), m.CRC) {
		return nil, &Corrupt{ID: id, Path: filepath.Join(s.dir, id), Reason: "is damaged: its checksum does not match"}
	}
	s.mu.Lock()
	s.verified = now
	s.mu.Unlock()
	return m, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// indexOf returns term and index from a snapshot's id (term-index-milliseconds), for a snapshot
// whose meta.json may be damaged.
func indexOf(id string) (term, index uint64, ok bool) {
	n, err := fmt.Sscanf(strings.ReplaceAll(id, "-", " "), "%d %d", &term, &index)
	return term, index, err == nil && n == 2
}

// TimeOf returns when the snapshot with an id was begun, by the clock of its node; the zero time if
// the id does not say.
func TimeOf(id string) time.Time {
	_, after, _ := strings.Cut(id, "-")
	_, milliseconds, _ := strings.Cut(after, "-")
	n, err := strconv.ParseInt(milliseconds, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(n)
}
