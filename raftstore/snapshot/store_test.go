package snapshot

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
)

func TestStoreKeepsTheNewestSnapshots(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	wantStored(t, s)
	if meta, err := s.Oldest(1); meta != nil || err != nil {
		t.Fatal(meta, err)
	}
	_ = write(t, s, 10, 1, podLike(1000))
	b := write(t, s, 20, 1, podLike(200_000))
	c := write(t, s, 30, 2, podLike(3000))
	check := func(s *Store) {
		t.Helper()
		wantStored(t, s, c, b)
		wantFiles(t, s, b, c)
		got, err := restore(s, b)
		if err != nil || !bytes.Equal(got, podLike(200_000)) {
			t.Fatalf("restored %d bytes, %v", len(got), err)
		}
		meta, r, err := s.OpenReader(c)
		if err != nil {
			t.Fatal(err)
		}
		got, err = io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, podLike(3000)) {
			t.Fatalf("read %d bytes, %v", len(got), err)
		}
		if diff := cmp.Diff(servers(), meta.Configuration); diff != "" || meta.Index != 30 || meta.Term != 2 {
			t.Fatal(meta, diff)
		}
		for first, want := range map[uint64]string{1: b, 21: b, 22: c, 31: c, 32: ""} {
			meta, err := s.Oldest(first)
			if err != nil || (meta == nil) != (want == "") || (meta != nil && meta.ID != want) {
				t.Errorf("oldest for a log from %d: %v, %v", first, meta, err)
			}
		}
	}
	check(s)
	check(open(t, dir))
}

// A reader reads a snapshot to its end although newer ones have replaced it, and OnOpen brackets
// the time in which the log after it is needed.
func TestReplacedSnapshotIsReadToItsEnd(t *testing.T) {
	reading := map[uint64]int{}
	s, err := New(Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler), OnOpen: func(index uint64) func() {
		reading[index]++
		return func() { reading[index]-- }
	}})
	if err != nil {
		t.Fatal(err)
	}
	id := write(t, s, 10, 1, podLike(300_000))
	_, sent, err := s.Open(id)
	if err != nil || reading[10] != 1 {
		t.Fatal(reading, err)
	}
	for index := uint64(20); index < 60; index += 10 {
		write(t, s, index, 1, podLike(1000))
	}
	if exists(path(s, id, stateFile)) {
		t.Fatal("the snapshot was not replaced")
	}
	got, err := io.ReadAll(NewReader(sent))
	if err != nil || !bytes.Equal(got, podLike(300_000)) || reading[10] != 1 {
		t.Errorf("read %d bytes, %v; %v", len(got), err, reading)
	}
	if err := sent.Close(); err != nil || reading[10] != 0 {
		t.Error(reading, err)
	}
	if _, _, err := s.Open(id); err == nil || reading[10] != 0 {
		t.Error("opened a removed snapshot:", reading, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestInstalledSnapshotIsStoredUnchanged(t *testing.T) {
	leader, follower := open(t, t.TempDir()), open(t, t.TempDir())
	id := write(t, leader, 10, 1, podLike(300_000))
	meta, wire, err := leader.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := io.ReadAll(wire)
	if err := errors.Join(err, wire.Close()); err != nil || int64(len(sent)) != meta.Size || meta.Size > 200_000 {
		t.Fatalf("%d bytes on the wire, size %d, %v", len(sent), meta.Size, err)
	}
	k := create(t, follower, 10, 1)
	_, err = io.Copy(k, bytes.NewReader(sent))
	if err := errors.Join(err, k.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := restore(follower, k.ID()); err != nil || !bytes.Equal(got, podLike(300_000)) {
		t.Fatalf("restored %d bytes, %v", len(got), err)
	}
	received, err := os.ReadFile(path(follower, k.ID(), stateFile))
	if err != nil || !bytes.Equal(sent, received) {
		t.Fatalf("%d bytes sent, %d stored, %v", len(sent), len(received), err)
	}
}

func TestCancelledSnapshotLeavesNothing(t *testing.T) {
	s := open(t, t.TempDir())
	k := create(t, s, 10, 1)
	if _, err := k.Write(podLike(100_000)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(k.Cancel(), k.Cancel(), k.Close()); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, s)
}

func TestCrashWhileWritingLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	a := write(t, s, 10, 1, podLike(1000))
	k := create(t, s, 20, 1)
	if _, err := k.Write(podLike(100_000)); err != nil {
		t.Fatal(err)
	}
	// A crash right before the rename leaves all files under the temporary name.
	whole := write(t, s, 30, 1, podLike(1000))
	if err := os.Rename(filepath.Join(s.dir, whole), filepath.Join(s.dir, whole+tmpSuffix)); err != nil {
		t.Fatal(err)
	}
	again := open(t, dir)
	wantFiles(t, again, a)
	if good, err := again.SelectNewest(11, 40); err != nil || good.ID != a {
		t.Fatal(good, err)
	}
	if err := k.Cancel(); err != nil { // its files are gone
		t.Fatal(err)
	}
	wantFiles(t, again, a)
}

// fullDiskChild marks the child process in which TestFullDiskLeavesNothing limits the size of
// files, because the limit applies to the whole process.
const fullDiskChild = "QUORATE_TEST_FULL_DISK_CHILD"

func TestFullDiskLeavesNothing(t *testing.T) {
	if os.Getenv(fullDiskChild) == "" {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFullDiskLeavesNothing$")
		child.Env = append(os.Environ(), fullDiskChild+"=1")
		if out, err := child.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	s := open(t, t.TempDir())
	a := write(t, s, 10, 1, podLike(1000))
	_, trans := raft.NewInmemTransport("")
	for _, room := range []uint64{0, 50, 1000, 20_000, 60_000} {
		err := func() error {
			defer limitFileSize(t, room)()
			k, err := s.Create(1, 20, 1, servers(), 1, trans)
			if err != nil {
				return err
			}
			w := NewWriter(k)
			_, err = w.Write(podLike(200_000))
			if err = errors.Join(err, w.Close()); err != nil {
				return errors.Join(err, k.Cancel())
			}
			return k.Close()
		}()
		if !errors.Is(err, syscall.EFBIG) {
			t.Errorf("space for %d bytes: %v", room, err)
		}
		wantFiles(t, s, a)
	}
	t.Run("when Close reports the first error", func(t *testing.T) {
		err := func() error {
			k := create(t, s, 20, 1)
			if _, err := k.Write(podLike(4000)); err != nil { // fits in the buffer
				return err
			}
			defer limitFileSize(t, 100)()
			return k.Close()
		}()
		if !errors.Is(err, syscall.EFBIG) {
			t.Fatal(err)
		}
		wantFiles(t, s, a)
	})
	b := write(t, s, 20, 1, podLike(1000))
	wantStored(t, s, b, a)
}

// limitFileSize makes writes of this process beyond the given size of a file fail, as on a full
// disk, until the caller calls undo.
func limitFileSize(t *testing.T, bytes uint64) (undo func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Error(err)
		}
		signal.Reset(syscall.SIGXFSZ)
	}
}

// The order of indexes and terms is numeric, whatever their number of digits.
func TestSnapshotsAreOrderedNumerically(t *testing.T) {
	s := open(t, t.TempDir())
	nine := write(t, s, 9, 9, podLike(100))
	ten := write(t, s, 100, 10, podLike(100))
	if ids, err := s.ids(); err != nil || len(ids) != 2 || ids[0] != ten || ids[1] != nine {
		t.Errorf("in the order %v (%v), want %s first", ids, err, ten)
	}
}

// The log after a snapshot must be held from before its content is read.
func TestHoldBeginsBeforeSnapshotIsRead(t *testing.T) {
	var id string
	var s *Store
	s, err := New(Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler), OnOpen: func(uint64) func() {
		change(t, path(s, id, metaFile), func(b []byte) []byte { return b[:len(b)/2] })
		return func() {}
	}})
	if err != nil {
		t.Fatal(err)
	}
	id = write(t, s, 10, 1, podLike(1000))
	_, _, err = s.Open(id)
	wantCorrupt(t, s, err, id)
}

func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	dir := t.TempDir()
	s, err := New(Config{Dir: dir, Logger: open(t, dir).logger, Registerer: registry})
	if err != nil {
		t.Fatal(err)
	}
	id := write(t, s, 10, 1, podLike(100))
	if err := create(t, s, 11, 1).Cancel(); err != nil {
		t.Fatal(err)
	}
	change(t, path(s, id, stateFile), func(b []byte) []byte { return append(b, 0) })
	if _, _, err := s.Open(id); err == nil {
		t.Fatal("opened")
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		m := f.GetMetric()[0]
		got[f.GetName()] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
	}
	for name, want := range map[string]float64{"write_seconds": 1, "failures_total": 1, "corrupt_total": 1, "last_index": 10} {
		if v, ok := got["quorate_raftstore_snapshot_"+name]; !ok || v != want {
			t.Errorf("%s is %v (there: %v), want %v", name, v, ok, want)
		}
	}
	if got["quorate_raftstore_snapshot_last_bytes"] == 0 {
		t.Error("quorate_raftstore_snapshot_last_bytes is 0")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{Dir: dir, Logger: s.logger, Registerer: registry}); err != nil { // registers again
		t.Error(err)
	}
}
