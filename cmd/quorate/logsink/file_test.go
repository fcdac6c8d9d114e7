package logsink_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"quorate/cmd/quorate/logsink"
	"quorate/raftstore/smalldisk"
)

func openFile(t *testing.T, cfg logsink.FileConfig) *logsink.File {
	t.Helper()
	f, err := logsink.OpenFile(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func deliver(t *testing.T, f *logsink.File, batch string) {
	t.Helper()
	if err := f.Deliver(t.Context(), []byte(batch)); err != nil {
		t.Error(err)
	}
}

// files returns the contents of the rotated files, oldest first, and of the present one.
func files(t *testing.T, path string) (contents []string) {
	t.Helper()
	paths, err := filepath.Glob(path + ".*")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	for _, p := range append(paths, path) {
		content, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(p)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", p, info.Mode(), err)
		}
		contents = append(contents, string(content))
	}
	return contents
}

func TestFileRotatesBySize(t *testing.T) {
	t.Parallel()
	removed := logsink.NewMetrics(prometheus.NewRegistry()).RemovedFiles
	cfg := logsink.FileConfig{
		Path: filepath.Join(t.TempDir(), "a[1].log"), MaxBytes: 10, MaxAge: time.Hour, MaxFiles: 2, Removed: removed,
	}
	f := openFile(t, cfg)
	for _, batch := range []string{"one\n", "two\n", "three\n", "four\n", "five\n", "six\n", "seven\n"} {
		deliver(t, f, batch)
	}
	var m dto.Metric
	if err := removed.Write(&m); err != nil || m.GetCounter().GetValue() != 1 {
		t.Errorf("%v files count as removed, %v, want 1", m.GetCounter().GetValue(), err)
	}
	paths, err := filepath.Glob(filepath.Join(filepath.Dir(cfg.Path), "*"))
	if err != nil || len(paths) != 3 {
		t.Errorf("files %q, %v", paths, err)
	}
	if used := int64(len("four\nfive\nsix\nseven\n")); used+f.Remaining() > 30 || f.Remaining() == 0 {
		t.Errorf("%d bytes remain", f.Remaining())
	}
	// Opened again, it goes on, and removes what is too much now.
	cfg.MaxFiles = 1
	again := openFile(t, cfg)
	deliver(t, again, "x\n")
	var all string
	paths, _ = filepath.Glob(filepath.Join(filepath.Dir(cfg.Path), "*"))
	for _, p := range paths {
		content, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all += string(content)
	}
	if len(paths) != 2 || !strings.Contains(all, "six\nseven\n") || !strings.Contains(all, "x\n") || strings.Contains(all, "four") {
		t.Errorf("opened again: %q with %q", paths, all)
	}
}

func TestFileRotatesByAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "log")
		cfg := logsink.FileConfig{Path: path, MaxBytes: 1000, MaxAge: time.Hour, MaxFiles: 9}
		f := openFile(t, cfg)
		time.Sleep(2 * time.Hour) // it is empty
		deliver(t, f, "a\n")
		time.Sleep(59 * time.Minute)
		deliver(t, f, "b\n")
		time.Sleep(2 * time.Minute)
		deliver(t, f, "c\n")
		if got := files(t, path); !slices.Equal(got, []string{"a\nb\n", "c\n"}) {
			t.Errorf("%q", got)
		}
		// A restart does not make the file younger: it was begun when the last one was rotated.
		time.Sleep(50 * time.Minute)
		again := openFile(t, cfg)
		deliver(t, again, "d\n")
		time.Sleep(11 * time.Minute)
		deliver(t, again, "e\n")
		if got := files(t, path); !slices.Equal(got, []string{"a\nb\n", "c\nd\n", "e\n"}) {
			t.Errorf("after a restart: %q", got)
		}
	})
}

// TestFileEmptiedByOthers checks that no lines are lost when another program rotates the file, with
// copytruncate or by renaming.
func TestFileEmptiedByOthers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	f := openFile(t, logsink.FileConfig{Path: path, MaxBytes: 10, MaxAge: time.Hour, MaxFiles: 3})
	deliver(t, f, "123456\n")
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	deliver(t, f, "abcdef\n")
	if got := files(t, path); !slices.Equal(got, []string{"abcdef\n"}) {
		t.Errorf("after truncate: %q", got)
	}
	if err := os.Rename(path, path+"-moved"); err != nil {
		t.Fatal(err)
	}
	deliver(t, f, "ghijkl\n")
	if got := files(t, path); !slices.Equal(got, []string{"ghijkl\n"}) {
		t.Errorf("after a rename: %q", got)
	}
}

// TestFileOnFullDisk checks that a batch without space leaves no partial line in the file, and that
// the next batch with space follows whole lines.
func TestFileOnFullDisk(t *testing.T) {
	t.Parallel()
	disk := smalldisk.New(t, 1<<20)
	path := filepath.Join(disk.Dir, "log")
	f := openFile(t, logsink.FileConfig{Path: path, MaxBytes: 1 << 30, MaxAge: time.Hour, MaxFiles: 1})
	line := strings.Repeat("x", 60<<10) + "\n"
	deliver(t, f, line)
	written := 1
	for ; ; written++ {
		if err := f.Deliver(t.Context(), []byte(line)); err != nil {
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			break
		}
	}
	if content := files(t, path)[0]; content != strings.Repeat(line, written) {
		t.Errorf("%d bytes after %d lines of %d", len(content), written, len(line))
	}
	if err := os.Truncate(path, 0); err != nil { // an operator makes space
		t.Fatal(err)
	}
	deliver(t, f, "next\n")
	if content := files(t, path)[0]; content != "next\n" {
		t.Errorf("after space was made: %d bytes", len(content))
	}
}

// TestFileOfAnotherType checks that a File writes to devices and pipes and never rotates them.
func TestFileOfAnotherType(t *testing.T) {
	t.Parallel()
	f := openFile(t, logsink.FileConfig{Path: "/dev/null", MaxBytes: 1, MaxAge: 1, MaxFiles: 1})
	for range 3 {
		deliver(t, f, "line\n")
	}
	if f.Remaining() != 0 {
		t.Errorf("%d bytes remain", f.Remaining())
	}
}
