package offline_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/raft"

	"quorate/raftstore"
	"quorate/raftstore/log"
	"quorate/raftstore/offline"
	"quorate/raftstore/snapshot"
	"quorate/raftstore/testcluster"
)

// changeLog changes the only file of entries of a node's log.
func changeLog(t *testing.T, dir string, change func([]byte) []byte) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, raftstore.RaftDir, raftstore.LogDir, "*.segment"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	content, err := os.ReadFile(found[0])
	must(t, err)
	must(t, os.WriteFile(found[0], change(content), 0o600))
}

func openLog(t *testing.T, dir string) *log.Store {
	t.Helper()
	l, err := log.Open(log.Config{Dir: filepath.Join(dir, raftstore.RaftDir, raftstore.LogDir), Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	return l
}

// supersede copies the snapshot in a data directory as one of the next term, which a leader of that
// term would send.
func supersede(t *testing.T, dir string) {
	t.Helper()
	s, err := snapshot.New(snapshot.Config{Dir: filepath.Join(dir, raftstore.RaftDir), Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	list, err := s.List()
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	meta, from, err := s.Open(list[0].ID)
	must(t, err)
	defer from.Close()
	_, encoder := raft.NewInmemTransport("")
	to, err := s.Create(meta.Version, meta.Index, meta.Term+1, meta.Configuration, meta.ConfigurationIndex, encoder)
	must(t, err)
	_, err = io.Copy(to, from)
	must(t, errors.Join(err, to.Close(), s.Close()))
}

// A node that has installed a snapshot may stop before it removes the log entries beyond it. Those
// were not committed and do not follow from the snapshot.
func TestSurvey_excludes_entries_superseded_by_the_newest_snapshot(t *testing.T) {
	t.Parallel()
	dir, _ := stopped(t, 1)
	supersede(t, dir)
	s, err := offline.Survey(dir, "n0", quiet())
	must(t, err)
	if s.Objects != 10 || s.Damage != nil {
		t.Errorf("%d objects, want the snapshot's 10; damage %v", s.Objects, s.Damage)
	}
	r, err := offline.Inspect(dir, 0, quiet())
	must(t, err)
	if r.State.Objects != 10 || r.State.Index != s.Index || len(r.Problems) != 0 {
		t.Errorf("%d objects after %d, want 10 after %d; problems %q", r.State.Objects, r.State.Index, s.Index, r.Problems)
	}
}

// The recovered node does not write to the old files.
func TestRecover_keeps_the_old_files(t *testing.T) {
	t.Parallel()
	dir, _ := stopped(t, 1)
	for _, round := range []string{"first", "second"} { // the second recovery finds a log without entries
		before := content(t, filepath.Join(dir, raftstore.RaftDir))
		s, err := offline.Survey(dir, "n0", quiet())
		must(t, err)
		made, aside, err := s.Recover(1000)
		must(t, err)
		l := openLog(t, dir)
		must(t, l.StoreLog(&raft.Log{Index: made.Index + 1, Term: 9, Type: raft.LogNoop}))
		must(t, l.DeleteRange(made.Index+1, made.Index+1))
		must(t, l.Close())
		if after := content(t, aside); strings.ReplaceAll(after, aside, filepath.Join(dir, raftstore.RaftDir)) != before {
			t.Errorf("%s recovery: the files kept aside differ from the old ones", round)
		}
	}
}

// Entries and snapshots after the damage are lost, but their versions were given to clients.
func TestRecover_refuses_a_gap_that_would_reuse_a_version(t *testing.T) {
	t.Parallel()
	dir, root := stopped(t, 1)
	changeLog(t, dir, func(content []byte) []byte { return bytes.ReplaceAll(content, []byte("uid-o15"), []byte("uid-x15")) })
	s, err := offline.Survey(dir, "n0", quiet())
	must(t, err)
	if s.Damage == nil || s.Index >= root.Index() {
		t.Fatalf("%+v", s)
	}
	if _, _, err := s.Recover(root.Index() - s.Index - 1); err == nil || !strings.Contains(err.Error(), "want a larger gap") {
		t.Errorf("a gap that ends within the old log: %v", err)
	}
	if _, _, err := s.Recover(1000); err != nil {
		t.Error(err)
	}
}

// Clients may have seen the versions up to a damaged snapshot's index, and its term was in use,
// though its state can't be read and the log is lost.
func TestRecover_counts_damaged_snapshots(t *testing.T) {
	t.Parallel()
	c := testcluster.New(t, 1, nil)
	n := c.Leader()
	var indexes []uint64
	for _, name := range []string{"a", "b"} {
		create(t, n.Store, name)
		_, index, err := n.Store.Snapshot()
		must(t, err)
		indexes = append(indexes, index)
		if name == "a" { // the second one is of a later term
			n.Stop()
			n.Start()
			c.Leader()
		}
	}
	term := n.Store.Term()
	n.Kill()
	older, newer := indexes[0], indexes[1]

	raftDir := filepath.Join(n.Dir, raftstore.RaftDir)
	newest, err := filepath.Glob(filepath.Join(raftDir, "snapshots", fmt.Sprintf("%d-%d-*", term, newer), "state.bin"))
	if err != nil || len(newest) != 1 {
		t.Fatal(newest, err)
	}
	must(t, errors.Join(os.Truncate(newest[0], 1), os.RemoveAll(filepath.Join(raftDir, raftstore.LogDir))))
	s, err := offline.Survey(n.Dir, n.Name, quiet())
	must(t, err)
	if s.Index != older || s.Damage == nil {
		t.Fatalf("continues from %d, want %d; damage %v", s.Index, older, s.Damage)
	}
	if _, _, err := s.Recover(newer - older); err == nil || !strings.Contains(err.Error(), "want a larger gap") {
		t.Errorf("a gap that ends within the damaged snapshot: %v", err)
	}
	_, _, err = s.Recover(newer - older + 1)
	must(t, err)
	l := openLog(t, n.Dir)
	defer l.Close()
	if got, err := l.GetUint64([]byte(log.CurrentTerm)); err != nil || got < term {
		t.Errorf("the new cluster begins in term %d, %v; the damaged snapshot is of term %d", got, err, term)
	}
}

func TestInspect_survives_members_that_cannot_be_decoded(t *testing.T) {
	t.Parallel()
	dir, root := stopped(t, 1)
	l := openLog(t, dir)
	last, err := l.LastIndex()
	must(t, err)
	must(t, l.StoreLog(&raft.Log{Index: last + 1, Term: 99, Type: raft.LogConfiguration, Data: []byte("\xc1nonsense")}))
	must(t, l.Close())
	r, err := offline.Inspect(dir, 1, quiet())
	must(t, err)
	if r.State.Objects != root.Len() || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "members") || len(r.Members) != 1 {
		t.Errorf("%d objects of %d, members %v, problems %q", r.State.Objects, root.Len(), r.Members, r.Problems)
	}
}
