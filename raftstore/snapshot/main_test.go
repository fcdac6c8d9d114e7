package snapshot

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/raft"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := New(Config{Dir: dir, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func servers() raft.Configuration {
	return raft.Configuration{Servers: []raft.Server{
		{Suffrage: raft.Voter, ID: "n1", Address: "10.0.0.1:7443"},
		{Suffrage: raft.Nonvoter, ID: "n2", Address: "10.0.0.2:7443"},
	}}
}

func create(t testing.TB, s *Store, index, term uint64) raft.SnapshotSink {
	t.Helper()
	_, trans := raft.NewInmemTransport("")
	k, err := s.Create(1, index, term, servers(), 1, trans)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// write stores a snapshot as the state machine and Raft do.
func write(t testing.TB, s *Store, index, term uint64, content []byte) (id string) {
	t.Helper()
	k := create(t, s, index, term)
	w := NewWriter(k)
	_, err := w.Write(content)
	if err := errors.Join(err, w.Close(), k.Close(), k.Close()); err != nil {
		t.Fatal(err)
	}
	return k.ID()
}

// restore reads a snapshot as Raft and the state machine do.
func restore(s *Store, id string) ([]byte, error) {
	_, r, err := s.Open(id)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(NewReader(r))
}

// stored returns the ids in the order of List.
func stored(t testing.TB, s *Store) (ids []string) {
	t.Helper()
	metas, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range metas {
		ids = append(ids, m.ID)
	}
	return ids
}

func wantStored(t testing.TB, s *Store, ids ...string) {
	t.Helper()
	if diff := cmp.Diff(ids, stored(t, s)); diff != "" {
		t.Fatalf("stored (-want +got):\n%s", diff)
	}
}

// wantFiles checks the names of the files in the folder of snapshots.
func wantFiles(t testing.TB, s *Store, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if diff := cmp.Diff(names, got); diff != "" {
		t.Fatalf("files (-want +got):\n%s", diff)
	}
}

func path(s *Store, id, file string) string { return filepath.Join(s.dir, id, file) }

// change rewrites a file.
func change(t testing.TB, path string, fn func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, fn(b), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
