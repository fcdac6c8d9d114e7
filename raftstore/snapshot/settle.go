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
)

// Settle verifies the snapshots, newest first, until it finds a good one, and returns that: nil
// when there is none. It is to be called before Raft starts, with the range of indexes in the log
// (0, 0 for none).
//
// Damaged ones are moved aside, so Raft restores an older one. It does so by itself too, but
// doesn't ask whether the log still has all entries since, and panics when it hasn't. If so, Settle
// moves nothing and returns the *Corrupt of the newest.
func (s *Store) Settle(logFirst, logLast uint64) (*raft.SnapshotMeta, error) {
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
		good = meta
		break
	}
	if len(damaged) == 0 {
		return good, nil
	}
	if !covered(damaged, good, logFirst, logLast) {
		return nil, damaged[0]
	}
	for _, c := range damaged {
		s.logger.Error("damaged snapshot moved aside, going back to an older one", "id", c.ID, "reason", c.Reason, "to", s.damaged)
		if err := s.moveAside(c.ID); err != nil {
			return nil, fmt.Errorf("move damaged snapshot %s aside: %w", c.ID, err)
		}
	}
	return good, nil
}

// covered says whether good and the log are all that the damaged snapshots held.
func covered(damaged []*Corrupt, good *raft.SnapshotMeta, logFirst, logLast uint64) bool {
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

// ids lists the snapshots, those that can't be read included, newest first as FileSnapshotStore
// orders them.
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

// moveAside keeps a damaged snapshot for inspection, out of Raft's sight.
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
	if err := errors.Join(syncDir(s.dir), syncDir(s.damaged)); err != nil {
		return err
	}
	return s.pruneDamaged()
}

// pruneDamaged bounds what is kept for inspection.
func (s *Store) pruneDamaged() error {
	entries, err := os.ReadDir(s.damaged)
	if err != nil {
		return err
	}
	type kept struct {
		name  string
		index uint64
	}
	var all []kept
	for _, e := range entries {
		_, index, _ := indexOf(e.Name())
		all = append(all, kept{e.Name(), index})
	}
	slices.SortFunc(all, func(a, b kept) int { return cmp.Compare(b.index, a.index) })
	for _, k := range all[min(len(all), damagedRetain):] {
		if err := os.RemoveAll(filepath.Join(s.damaged, k.name)); err != nil {
			return err
		}
	}
	return nil
}
