package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log/diskio"
)

// SelectNewest verifies the snapshots, newest first, and returns the first undamaged one, nil if
// there is none. Callers call it before Raft starts, with the range of indexes in the log (0, 0 if
// the log is empty).
//
// It moves damaged snapshots aside, so that Raft restores the returned one. Raft would by itself
// fall back to an older snapshot, but without a check that the log has all entries since, and would
// then panic if the log does not. If the log does not have them, SelectNewest moves nothing, and
// returns the *Corrupt of the newest snapshot.
func (s *Store) SelectNewest(logFirst, logLast uint64) (*raft.SnapshotMeta, error) {
	ids, err := s.ids()
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	var damaged []*Corrupt
	var good *raft.SnapshotMeta
	for _, id := range ids {
		meta, err := s.verify(id)
		var c *Corrupt
		if errors.As(err, &c) {
			s.metrics.corrupt.Inc()
			damaged = append(damaged, c)
			continue
		}
		if err != nil {
			return nil, err
		}
		good = &meta.SnapshotMeta
		break
	}
	if len(damaged) == 0 {
		return good, nil
	}
	if !coveredByLog(damaged, good, logFirst, logLast) {
		return nil, damaged[0]
	}
	for _, c := range damaged {
		s.logger.Error("moved a damaged snapshot aside, falling back to an older one", "id", c.ID, "reason", c.Reason, "to", s.damaged)
		if err := s.moveAside(c.ID); err != nil {
			return nil, fmt.Errorf("move damaged snapshot %s aside: %w", c.ID, err)
		}
	}
	return good, nil
}

// coveredByLog reports whether good and the log have all that the damaged snapshots held.
func coveredByLog(damaged []*Corrupt, good *raft.SnapshotMeta, logFirst, logLast uint64) bool {
	next := uint64(1)
	if good != nil {
		next = good.Index + 1
	}
	if logFirst == 0 || logFirst > next {
		return false
	}
	for _, c := range damaged {
		if _, index, ok := indexOf(c.ID); !ok || index > logLast {
			return false
		}
	}
	return true
}

// ids returns the ids of all snapshots, including unreadable ones, newest first in the order of
// FileSnapshotStore.
func (s *Store) ids() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if _, _, ok := indexOf(e.Name()); ok && e.IsDir() && !strings.HasSuffix(e.Name(), tmpSuffix) {
			ids = append(ids, e.Name())
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		termA, indexA, _ := indexOf(a)
		termB, indexB, _ := indexOf(b)
		return -cmp.Or(cmp.Compare(termA, termB), cmp.Compare(indexA, indexB), cmp.Compare(a, b))
	})
	return ids, nil
}

// moveAside moves a damaged snapshot to a folder that Raft does not read, for inspection.
func (s *Store) moveAside(id string) error {
	if err := os.MkdirAll(s.damaged, 0o755); err != nil {
		return err
	}
	to := filepath.Join(s.damaged, id)
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(s.dir, id), to); err != nil {
		return err
	}
	if err := errors.Join(diskio.SyncDir(s.dir), diskio.SyncDir(s.damaged)); err != nil {
		return err
	}
	return s.pruneDamaged()
}

// pruneDamaged removes all but the newest damaged snapshots.
func (s *Store) pruneDamaged() error {
	entries, err := os.ReadDir(s.damaged)
	if err != nil {
		return err
	}
	type damagedSnapshot struct {
		name  string
		index uint64
	}
	var all []damagedSnapshot
	for _, e := range entries {
		_, index, _ := indexOf(e.Name())
		all = append(all, damagedSnapshot{e.Name(), index})
	}
	slices.SortFunc(all, func(a, b damagedSnapshot) int { return cmp.Compare(b.index, a.index) })
	for _, k := range all[min(len(all), damagedRetain):] {
		if err := os.RemoveAll(filepath.Join(s.damaged, k.name)); err != nil {
			return err
		}
	}
	return nil
}
