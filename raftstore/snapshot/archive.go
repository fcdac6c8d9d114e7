package snapshot

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"
)

// Archive reads the snapshots of a folder, damaged ones included, and changes nothing.
type Archive struct{ store *Store }

// Examined describes a snapshot in an Archive.
type Examined struct {
	ID          string
	Term, Index uint64 // from its id if its meta.json is damaged
	Bytes       int64
	Members     raft.Configuration
	Damage      error // nil if it passed all checks
}

// NewArchive returns the snapshots below dir.
func NewArchive(dir string) *Archive {
	s := &Store{dir: filepath.Join(dir, snapshotsDir)}
	s.metrics = newMetrics(nil, s)
	return &Archive{store: s}
}

// Examine verifies all snapshots and returns them, newest first.
func (a *Archive) Examine() ([]Examined, error) {
	ids, err := a.store.ids()
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	var all []Examined
	for _, id := range ids {
		e := Examined{ID: id}
		e.Term, e.Index, _ = indexOf(id)
		if info, err := os.Stat(filepath.Join(a.store.dir, id, stateFile)); err == nil {
			e.Bytes = info.Size()
		}
		meta, err := a.store.verify(id)
		if err == nil {
			e.Term, e.Index, e.Members = meta.Term, meta.Index, meta.Configuration
		}
		e.Damage = err
		all = append(all, e)
	}
	return all, nil
}

// Open returns the decompressed content of a snapshot.
func (a *Archive) Open(id string) (io.ReadCloser, error) {
	_, content, err := a.store.OpenReader(id)
	return content, err
}
