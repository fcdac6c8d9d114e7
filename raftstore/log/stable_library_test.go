package log

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
)

// stableStores opens the stable store of this package and that of raft-boltdb, which stores each
// value in a transaction of its own, without a checksum.
func stableStores(t *testing.T) map[string]func(path string) closingStable {
	return map[string]func(path string) closingStable{
		"here": func(path string) closingStable { return open(t, path) },
		"raft-boltdb": func(path string) closingStable {
			s, err := raftboltdb.NewBoltStore(path)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	}
}

type closingStable interface {
	raft.StableStore
	Close() error
}

// TestStableValuesNeedMoreThanRaftBoltDB shows why Raft's term and vote are not stored by
// raft-boltdb. After a crash between the two values of a vote, raft-boltdb has the earlier
// candidate with the later term. If a byte changes on disk, it returns another term, where this
// package has a second copy. Either way the node may vote twice in one term.
func TestStableValuesNeedMoreThanRaftBoltDB(t *testing.T) {
	unsafe := map[string]bool{"raft-boltdb": true}
	for name, open := range stableStores(t) {
		t.Run("a_crash_within_a_vote/"+name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "stable.db")
			s := open(path)
			vote(t, s, 4, "b")
			must(t, s.SetUint64([]byte(LastVoteTerm), 5)) // the node dies before the candidate of term 5 is stored
			must(t, s.Close())
			s = open(path)
			defer s.Close()
			term, err := s.GetUint64([]byte(LastVoteTerm))
			must(t, err)
			candidate, err := s.Get([]byte(LastVoteCand))
			must(t, err)
			if mixed := term == 5 && string(candidate) == "b"; mixed != unsafe[name] {
				t.Errorf("term %d, candidate %s", term, candidate)
			}
		})
		t.Run("a_changed_byte/"+name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "stable.db")
			s := open(path)
			const term = 0x1122334455667788
			must(t, s.SetUint64([]byte(CurrentTerm), term))
			must(t, s.Close())
			file := path
			if !unsafe[name] {
				file = filepath.Join(path, stableFile)
			}
			text, err := os.ReadFile(file)
			must(t, err)
			stored := binary.BigEndian.AppendUint64(nil, term)
			if !bytes.Contains(text, stored) {
				t.Fatal("the file does not hold the term")
			}
			at := bytes.LastIndex(text, stored) // of raft-boltdb's, there is only one
			copy(text[at:], binary.BigEndian.AppendUint64(nil, term-1))
			must(t, os.WriteFile(file, text, 0o600))
			s = open(path)
			defer s.Close()
			got, err := s.GetUint64([]byte(CurrentTerm))
			if want := uint64(term); err != nil || unsafe[name] && got != want-1 || !unsafe[name] && got != want {
				t.Errorf("term %#x, error %v", got, err)
			}
		})
	}
}

// vote stores a vote as the library does: first the term, then the candidate.
func vote(t *testing.T, s raft.StableStore, term uint64, candidate string) {
	t.Helper()
	must(t, s.SetUint64([]byte(LastVoteTerm), term))
	must(t, s.Set([]byte(LastVoteCand), []byte(candidate)))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
