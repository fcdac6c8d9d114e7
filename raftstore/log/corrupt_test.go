package log

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/raft"
)

// wantCorrupt checks that err is a *Corrupt whose message tells an operator the file and the entry.
func wantCorrupt(t *testing.T, err error, path string, index uint64) {
	t.Helper()
	var c *Corrupt
	if !errors.As(err, &c) {
		t.Fatalf("error %v is not Corrupt", err)
	}
	if c.Index != index || !strings.HasPrefix(c.Path, path) || !strings.Contains(c.Error(), path) || strings.Contains(c.Error(), "\n") {
		t.Fatalf("error %q, want one of entry %d in %s", err, index, path)
	}
}

// firstFile returns the oldest file of entries.
func firstFile(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.segment"))
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	return found[0]
}

// damage changes a byte of the data of an entry, wherever the log has it.
func damage(t *testing.T, dir string, index uint64) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.segment"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if at := strings.Index(string(b), string(content(index, 3))); at >= 0 {
			b[at] ^= 1
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("entry %d is in none of %s", index, found)
}

func TestDamagedEntryIsFoundByAllReaders(t *testing.T) {
	for index := uint64(1); index <= 9; index++ {
		path := pathOf(t)
		s := open(t, path)
		fill(t, s, 1, 9, 40)
		fill(t, s, 10, 12, 40)
		damage(t, path, index)
		s.cache.clear()
		wantCorrupt(t, s.GetLog(index, new(raft.Log)), path, index)
		wantCorrupt(t, s.Verify(t.Context(), 1), path, index)
		_, position, err := readAll(t, s, 0, 12, 0)
		wantCorrupt(t, err, path, index)
		if position != index-1 {
			t.Errorf("read up to %d, before entry %d", position, index)
		}
		if err := s.Verify(t.Context(), index+1); err != nil {
			t.Error(err)
		}
		again := open(t, crashed(t, path))
		if err := again.Verify(t.Context(), 1); !isCorrupt(err) {
			t.Errorf("after a restart: %v", err)
		}
		if err := again.Verify(t.Context(), index+1); err != nil {
			t.Error(err)
		}
	}
}

// The newest entries must not vanish without notice.
func TestLostFileIsFound(t *testing.T) {
	path := pathOf(t)
	s := open(t, path)
	fill(t, s, 1, 300, 1331)
	for what, lose := range map[string]func(dir string) error{
		"the newest file is removed": func(dir string) error {
			found, err := filepath.Glob(filepath.Join(dir, "*.segment"))
			return errors.Join(err, os.Remove(found[len(found)-1]))
		},
		"all are removed": func(dir string) error {
			found, err := filepath.Glob(filepath.Join(dir, "*.segment"))
			for _, path := range found {
				err = errors.Join(err, os.Remove(path))
			}
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			copied := crashed(t, path)
			if err := lose(copied); err != nil {
				t.Fatal(err)
			}
			_, err := Open(Config{Dir: copied, Logger: quiet()})
			wantCorrupt(t, err, copied, 0)
		})
	}
	t.Run("one in the middle is removed", func(t *testing.T) {
		copied := crashed(t, path)
		found, err := filepath.Glob(filepath.Join(copied, "*.segment"))
		if err := errors.Join(err, os.Remove(found[2])); err != nil {
			t.Fatal(err)
		}
		if err := open(t, copied).Verify(t.Context(), 1); !isCorrupt(err) {
			t.Error(err)
		}
	})
	t.Run("the oldest was trimmed", func(t *testing.T) {
		copied := crashed(t, path)
		if err := os.Remove(firstFile(t, copied)); err != nil {
			t.Fatal(err)
		}
		again := open(t, copied)
		first, _ := again.FirstIndex()
		if err := again.Verify(t.Context(), first); err != nil || first == 1 {
			t.Error(first, err)
		}
	})
	t.Run("the end was overruled", func(t *testing.T) {
		deleteRange(t, s, 50, 300) // removes files
		again := open(t, crashed(t, path))
		if last, _ := again.LastIndex(); last < 49 || last >= 300 {
			t.Errorf("the log ends with %d", last)
		}
		deleteRange(t, s, 1, 49)
		wantSpan(t, open(t, crashed(t, path)), 0, 0)
	})
}
