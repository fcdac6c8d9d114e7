package schedule

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"quorate/raftstore"
	"quorate/raftstore/smalldisk"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

func makeDir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

// The first leader of a cluster records since when backups are scheduled, and writes none for
// earlier times.
func TestFirstLeaderWritesNoBackupOfThePast(t *testing.T) {
	t.Parallel()
	c := testcluster.New(t, 1, nil)
	dir := t.TempDir()
	s := newScheduler(t, c.Leader(), dir, &soon{past: second(time.Minute)}, good)
	begun := time.Now()
	s.start() // the namespace does not exist yet
	prepareNamespace(t, s)
	testcluster.Eventually(t, "a backup is written", func() bool { return len(s.begun) > 0 && s.log.count("scheduled backup written") > 0 })
	found := files(t, dir)
	if at, ok := (names{cluster: s.cfg.Store.ClusterID()}).scheduled(found[0]); len(found) != 1 || !ok || at.Before(begun.Add(-time.Second)) {
		t.Errorf("got %v", found)
	}
}

// What a backup holds, and what the record and the metrics say about it.
func TestBackupIsRecorded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	past, future := second(time.Minute), time.Now().Add(time.Hour).Truncate(time.Second)
	s := single(t, dir, times{past, future}, good)
	s.start()
	testcluster.Eventually(t, "the backup is recorded", func() bool { return s.log.count("scheduled backup written") > 0 })
	h := verified(t, dir)
	if h.ClusterID != s.cfg.Store.ClusterID() || h.Objects != 2 {
		t.Errorf("%+v", h)
	}
	if info, err := os.Stat(filepath.Join(dir, files(t, dir)[0])); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	} else if bytes := s.value("quorate_backup_last_bytes", ""); bytes != float64(info.Size()) {
		t.Errorf("the metric has %v bytes, the file %d", bytes, info.Size())
	}
	r, err := s.readRecord(t.Context(), raftstore.Cached())
	if err != nil || !r.scheduled.Equal(past) || r.taken.Sub(h.Time).Abs() > time.Millisecond {
		t.Errorf("recorded %v, taken %v, %v; want %v and %v", r.scheduled, r.taken, err, past, h.Time)
	}
	if due := s.value("quorate_backup_due_timestamp_seconds", ""); due != float64(future.Unix()) {
		t.Errorf("the next one is due at %v, want %d", due, future.Unix())
	}
	if last := s.value("quorate_backup_last_timestamp_seconds", ""); last < float64(h.Time.Unix())-1 || last > float64(h.Time.Unix())+1 {
		t.Errorf("the last one is of %v, want %d", last, h.Time.Unix())
	}
	if s.exports("quorate_backup_failures_total") {
		t.Error("failures are exported before the first one")
	}
}

// A backup that is damaged on its way to the disk gets no name, and is written again.
func TestDamagedBackupIsWrittenAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	attempts := 0
	s := single(t, dir, times{second(time.Minute)}, func(w io.Writer, root *state.Root) error {
		var b bytes.Buffer
		if err := good(&b, root); err != nil {
			return err
		}
		if attempts++; attempts == 1 {
			b.Bytes()[b.Len()/2] ^= 1
		}
		_, err := w.Write(b.Bytes())
		return err
	})
	s.start()
	testcluster.Eventually(t, "the damage is found", func() bool { return s.failed("damaged") == 1 })
	if names := files(t, dir); len(names) != 0 {
		t.Errorf("the directory has %v", names)
	}
	testcluster.Eventually(t, "the backup is written again", func() bool { return s.log.count("scheduled backup written") == 1 })
	verified(t, dir)
}

// The file of a leader that failed before it recorded it is verified, and recorded or replaced.
func TestFileOfAFormerLeader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		damage  func(file []byte) []byte
		written int
	}{
		{"whole", func(file []byte) []byte { return file }, 0},
		{"cut short", func(file []byte) []byte { return file[:len(file)-3] }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, past := t.TempDir(), second(time.Minute)
			s := single(t, dir, times{past}, good)
			root, err := s.cfg.Store.View(t.Context(), raftstore.Cached())
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := good(&b, root); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(dir, names{cluster: root.ClusterID()}.fileName(past))
			if err := os.WriteFile(name, c.damage(b.Bytes()), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "."+filepath.Base(name)+"-1234"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			s.start()
			testcluster.Eventually(t, "the backup is recorded", func() bool { return s.recordedAt().Equal(past) })
			if len(s.begun) != c.written {
				t.Errorf("%d backups were begun, want %d", len(s.begun), c.written)
			}
			s.stop()
			if c.written > 0 {
				verified(t, dir) // and the temporary file is gone
			}
		})
	}
}

// A backup is dropped if the record has changed when its file is complete, because another node has
// written one.
func TestSupersededBackupIsDropped(t *testing.T) {
	t.Parallel()
	dir, past := t.TempDir(), second(time.Minute)
	release := make(chan struct{})
	s := single(t, dir, times{past}, func(w io.Writer, root *state.Root) error {
		<-release
		return good(w, root)
	})
	s.start()
	<-s.begun
	before, err := s.readRecord(t.Context(), raftstore.Cached())
	if err == nil {
		err = s.write(t.Context(), before, past, past)
	}
	if err != nil {
		t.Fatal(err)
	}
	close(release)
	testcluster.Eventually(t, "the backup is dropped", func() bool { return s.failed("superseded") == 1 })
	if names := files(t, dir); len(names) != 0 {
		t.Errorf("the directory has %v", names)
	}
}

// A full or missing directory costs one line in the log for each scheduled time, and the backup is
// written once the directory is as it should be.
func TestFullDirectory(t *testing.T) {
	t.Parallel()
	disk := smalldisk.New(t, 1<<20)
	s := single(t, disk.Dir, times{second(time.Minute)}, good)
	disk.Fill(0)
	s.start()
	testcluster.Eventually(t, "two attempts fail", func() bool { return s.failed("no-space") >= 2 })
	if n := s.log.count("scheduled backup failed"); n != 1 || s.log.count("no space left on device") != 1 {
		t.Errorf("%d lines", n)
	}
	if names := files(t, disk.Dir); len(names) != 0 {
		t.Errorf("left behind: %v", names)
	}
	disk.Clear()
	testcluster.Eventually(t, "the backup is written", func() bool { return s.log.count("scheduled backup written") == 1 })
	verified(t, disk.Dir)
}

func TestMissingDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "mounted")
	s := single(t, dir, times{second(time.Minute)}, good)
	s.start()
	testcluster.Eventually(t, "the backup fails", func() bool { return s.failed("missing-directory") == 1 })
	testcluster.Eventually(t, "the log says what to do, at the start and for the backup", func() bool {
		return s.log.count("does not exist: create it, or mount its file system") == 2
	})
	makeDir(t, dir)
	testcluster.Eventually(t, "the backup is written", func() bool { return s.log.count("scheduled backup written") == 1 })
	verified(t, dir)
}

// A backup leaves the space that the data directory on the same disk needs.
func TestBackupLeavesSpaceForTheData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := single(t, dir, times{second(time.Minute)}, good)
	s.cfg.Needed = func() (int64, error) { return 1 << 60, nil }
	s.start()
	testcluster.Eventually(t, "the backup fails", func() bool { return s.failed("no-space") == 1 })
	testcluster.Eventually(t, "the log says why", func() bool {
		return s.log.count("the data directory on the same disk needs") == 1
	})
}

func TestReasons(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"no-space": syscall.EDQUOT, "read-only": syscall.EROFS, "unavailable": raftstore.ErrUnavailable, "other": io.ErrUnexpectedEOF,
		"not-recorded": &unrecorded{raftstore.ErrUnavailable},
	} {
		if got := reason(err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}

// Retention removes this cluster's backups only, and never the newest one.
func TestPrune(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	d := directory{names: names{cluster: "C1"}}
	name := func(age time.Duration) string { return d.fileName(now.Add(-age)) }
	foreign := []string{
		(names{cluster: "C2"}).fileName(now), (names{cluster: "C1-2"}).fileName(now), "notes", "quorate-C1-yesterday.backup", "." + name(0) + "-1",
	}
	all := []time.Duration{time.Minute, time.Hour, 2 * time.Hour, 30 * time.Hour}
	for _, c := range []struct {
		keep int
		age  time.Duration
		want int
	}{
		{1, 0, 1}, {2, 0, 2}, {9, 0, 4}, {9, 90 * time.Minute, 2}, {1, 48 * time.Hour, 1}, {9, time.Second, 1},
	} {
		d.path = t.TempDir()
		for _, age := range all {
			foreign = append(foreign, name(age))
		}
		for _, f := range foreign {
			if err := os.WriteFile(filepath.Join(d.path, f), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		foreign = foreign[:5]
		want := slices.Clone(foreign)
		for _, age := range all[:c.want] {
			want = append(want, name(age))
		}
		slices.Sort(want)
		if err := d.prune(t.Context(), c.keep, c.age, now); err != nil {
			t.Error(err)
		}
		if got := files(t, d.path); !slices.Equal(got, want) {
			t.Errorf("keep %d, age %s: got %s\nwant %s", c.keep, c.age, strings.Join(got, " "), strings.Join(want, " "))
		}
	}
}
