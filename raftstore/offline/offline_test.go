package offline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"go.uber.org/goleak"

	"quorate/progress"
	"quorate/raftstore"
	"quorate/raftstore/fsm"
	"quorate/raftstore/log"
	"quorate/raftstore/offline"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

// quiet returns the progress of an operation that nobody watches.
func quiet() *progress.Progress { return progress.New(io.Discard, "", 0, progress.Bytes()) }

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// create stores an object. If leadership is lost meanwhile, as happens on a busy machine, the
// outcome is unknown: create asks again, and the object may exist by then.
func create(t *testing.T, s *raftstore.Store, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	head := `{"metadata":{"name":"` + name + `","resourceVersion":"`
	o := &state.Object{UID: "uid-" + name, Value: []byte(head + `"}}`), VersionOffset: uint32(len(head))}
	for unknown := false; ; unknown = true {
		_, err := s.Create(ctx, raftstore.Create{Key: state.NewKey("configmaps", "default", name), Object: o})
		if _, exists := errors.AsType[*state.Exists](err); err == nil || exists && unknown {
			return
		}
		if !errors.Is(err, raftstore.ErrUnknownOutcome) || ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

// stopped returns the data directory of n0 of a cluster that was stopped, and its state.
func stopped(t *testing.T, size int) (dir string, root *state.Root) {
	t.Helper()
	c := testcluster.New(t, size, nil)
	leader := c.Leader()
	for i := range 20 {
		create(t, leader.Store, fmt.Sprintf("o%d", i))
		if i == 9 {
			if _, _, err := c.Nodes[0].Store.Snapshot(); err != nil {
				t.Fatal(err)
			}
		}
	}
	root, err := c.Nodes[0].Store.View(t.Context(), raftstore.Quorum())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range c.Nodes {
		n.Kill()
	}
	return c.Nodes[0].Dir, root
}

func TestInspect_reports_the_contents_and_changes_nothing(t *testing.T) {
	t.Parallel()
	dir, root := stopped(t, 3)
	before := content(t, dir)
	r, err := offline.Inspect(dir, 5, quiet())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(r.Members, []string{"n0", "n1", "n2"}, func(m offline.Member, name string) bool { return m.Name == name && m.Voter }) {
		t.Errorf("members %v", r.Members)
	}
	if r.ClusterID != root.ClusterID() || len(r.Problems) != 0 || len(r.Snapshots) != 1 || r.Log.First != 1 || r.Log.Last < root.Index() || r.Term == 0 {
		t.Errorf("report %+v", r)
	}
	if want := []offline.Resource{{Name: "configmaps", Objects: 20, Bytes: r.State.Resources[0].Bytes}}; !slices.Equal(r.State.Resources, want) {
		t.Errorf("objects %v", r.State.Resources)
	}
	if len(r.Entries) != 5 || r.Entries[4].Index != r.Log.Last {
		t.Errorf("entries %v", r.Entries)
	}
	if r.State.Index == root.Index() && r.State.Checksum != fmt.Sprintf("%016x", fsm.Checksum(root)) {
		t.Errorf("checksum %s of the state at %d", r.State.Checksum, r.State.Index)
	}
	if after := content(t, dir); after != before {
		t.Error("Inspect changed the directory")
	}
}

// content returns the content of all files in dir, for comparisons.
func content(t *testing.T, dir string) string {
	t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintln(&all, path, len(text))
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestInspect_reports_damage_and_the_undamaged_rest(t *testing.T) {
	t.Parallel()
	dir, _ := stopped(t, 1)
	logFiles, err := filepath.Glob(filepath.Join(dir, raftstore.RaftDir, raftstore.LogDir, "*.segment"))
	if err != nil || len(logFiles) != 1 {
		t.Fatal(logFiles, err)
	}
	logFile := logFiles[0]
	entries, err := os.ReadFile(logFile)
	if err != nil {
		t.Fatal(err)
	}
	states, err := filepath.Glob(filepath.Join(dir, raftstore.RaftDir, "snapshots", "*", "state.bin"))
	if err != nil || len(states) != 1 {
		t.Fatal(states, err)
	}
	snapshot, err := os.ReadFile(states[0])
	if err != nil {
		t.Fatal(err)
	}
	entry := bytes.Clone(entries)
	for at := bytes.Index(entry, []byte("uid-o17")); at >= 0; at = bytes.Index(entry, []byte("uid-o17")) {
		entry[at] ^= 1
	}
	bad := bytes.Clone(snapshot)
	bad[len(bad)/2] ^= 1
	for _, c := range []struct {
		name          string
		log, snapshot []byte
		problem       string
		objects       int
	}{
		{"whole", entries, snapshot, "", 20},
		{"an entry", entry, snapshot, "is damaged: its checksum does not match", 17},
		{"the snapshot, and the log has all", entries, bad, "snapshot ", 20},
		{"the log's beginning", append(make([]byte, 512), entries[512:]...), snapshot, "is not a segment of a log, or its beginning is damaged", 10},
		{"the log cut short", entries[:3000], snapshot, "cut short", 10},
		{"the log gone", nil, snapshot, "log", 10},
		{"both", entry, bad, "snapshot ", 17},
	} {
		must(t, os.WriteFile(states[0], c.snapshot, 0o600))
		must(t, os.Remove(logFile))
		if c.log != nil {
			must(t, os.WriteFile(logFile, c.log, 0o600))
		}
		r, err := offline.Inspect(dir, 3, quiet())
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if (c.problem == "") != (len(r.Problems) == 0) || c.problem != "" && !strings.Contains(r.Problems[0], c.problem) || r.State.Objects != c.objects {
			t.Errorf("%s: %d objects, want %d, and problems %q", c.name, r.State.Objects, c.objects, r.Problems)
		}
		if c.log == nil {
			must(t, os.WriteFile(logFile, entries, 0o600))
		}
	}
}

func TestInspect_distinguishes_an_entry_of_another_build_from_damage(t *testing.T) {
	t.Parallel()
	dir, root := stopped(t, 1)
	l, err := log.Open(log.Config{Dir: filepath.Join(dir, raftstore.RaftDir, raftstore.LogDir), Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	last, err := l.LastIndex()
	must(t, err)
	var before raft.Log
	must(t, l.GetLog(last, &before))
	newer := []byte{8, 2} // format 2, with nothing that this build can read
	must(t, errors.Join(l.StoreLog(&raft.Log{Index: last + 1, Term: before.Term, Type: raft.LogCommand, Data: newer}), l.Close()))

	r, err := offline.Inspect(dir, 1, quiet())
	must(t, err)
	if !r.OtherBuild || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], fmt.Sprintf("entries of format 2 (its own is 1) at index %d", last+1)) {
		t.Errorf("problems %q, of another build %v", r.Problems, r.OtherBuild)
	}
	if r.State.Index != last || r.State.Objects != root.Len() || len(r.Entries) != 1 || !strings.Contains(r.Entries[0].What, "unknown format 2") {
		t.Errorf("state %+v, entries %+v", r.State, r.Entries)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRecover_keeps_all_that_the_survivor_has_under_higher_versions(t *testing.T) {
	t.Parallel()
	dir, root := stopped(t, 3)
	if _, err := offline.Survey(dir, "n7", quiet()); !errors.Is(err, offline.ErrNotMember) {
		t.Errorf("a directory of another node: %v", err)
	}
	s, err := offline.Survey(dir, "n0", quiet())
	if err != nil {
		t.Fatal(err)
	}
	if s.Objects != 20 || s.Index < root.Index() || s.Damage != nil || len(s.Dropped) != 2 || s.Dropped[0].Name != "n1" || s.ClusterID != root.ClusterID() {
		t.Errorf("survivor %+v", s)
	}
	if _, _, err := s.Recover(0); err == nil {
		t.Error("a gap of 0 was accepted")
	}
	if _, _, err := s.Recover(1 << 53); err == nil {
		t.Error("a gap beyond 2^53 was accepted")
	}
	for range 2 { // a second recovery must succeed as well
		made, aside, err := s.Recover(1000)
		if err != nil {
			t.Fatal(err)
		}
		r, err := offline.Inspect(dir, 0, quiet())
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Problems) != 0 || len(r.Members) != 1 || r.ClusterID != made.ClusterID || r.State.Objects != 20 || r.Log.Last != 0 ||
			made.Index != s.Index+1000 || r.State.Index != made.Index || r.Term < s.Term {
			t.Errorf("recovered %+v of %+v: %+v", made, s, r)
		}
		kept, err := filepath.Glob(filepath.Join(aside, "snapshots", "*", "state.bin"))
		if err != nil || len(kept) == 0 {
			t.Errorf("kept aside: %v %v", kept, err)
		}
		if s, err = offline.Survey(dir, "n0", quiet()); err != nil || len(s.Dropped) != 0 {
			t.Fatalf("%+v %v", s, err)
		}
	}
}

func TestCreate_leaves_nothing_when_it_fails(t *testing.T) {
	t.Parallel()
	_, root := stopped(t, 1)
	dir := t.TempDir()
	c := offline.Cluster{Name: "n0", PeerAddr: "127.0.0.1:1", Root: root, Gap: 1 << 60}
	if _, err := offline.Create(dir, c); err == nil || !strings.Contains(err.Error(), "less than 2^53") {
		t.Errorf("a gap of 2^60: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left: %v %v", left, err)
	}
	c.Gap = offline.DefaultGap(root.Index(), time.Now())
	if _, err := offline.Create(dir, c); err != nil {
		t.Fatal(err)
	}
	if _, err := offline.Create(dir, c); !errors.Is(err, offline.ErrState) {
		t.Errorf("second call: %v", err)
	}
}
