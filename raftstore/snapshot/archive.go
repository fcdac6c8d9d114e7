package snapshot

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"
)

// Archive is a store to look at: it changes nothing, and tells of the snapshots that are damaged
// too.
type Archive struct{ store *Store }

// Examined is a snapshot that is there.
type Examined struct {
	ID          string
	Term, Index uint64 // by its id, where its meta.json can't be trusted
	Bytes       int64
	Members     raft.Configuration
	Damage      error // nil when it was found whole
}

// NewArchive returns the snapshots in a folder of dir.
func NewArchive(dir string) *Archive {
	s := &Store{dir: filepath.Join(dir, snapshotsDir)}
	s.metrics = newMetrics(nil, s)
	return &Archive{store: s}
}

// Examine verifies all snapshots, and lists them, newest first.
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

// Open returns the content of a snapshot, decompressed.
func (a *Archive) Open(id string) (io.ReadCloser, error) {
	_, content, err := a.store.OpenReader(id)
	return content, err
}
