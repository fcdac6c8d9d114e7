package disk

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// nodeFiles makes a data directory with files like a node's, named as those are.
func nodeFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, snapshotsDir, "2-10-1"), 0o755))
	must(t, os.MkdirAll(filepath.Join(dir, snapshotsDir, "2-20-2.tmp"), 0o755))
	store(t, filepath.Join(dir, snapshotsDir, "2-10-1", snapshotState), "the state", false)
	store(t, filepath.Join(dir, snapshotsDir, "2-10-1", snapshotMeta), "{}", false)
	store(t, filepath.Join(dir, snapshotsDir, "2-20-2.tmp", snapshotMeta), "{}", false) // newer, and nothing that may be chosen
	db, err := bbolt.Open(filepath.Join(dir, logFile), 0o600, nil)
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket([]byte("logs"))
		for i := range uint64(500) {
			err = errors.Join(err, b.Put(key(i), bytes.Repeat([]byte("e"), 500+int(i%3)*5000)))
		}
		conf, err2 := tx.CreateBucket([]byte("conf"))
		return errors.Join(err, err2, conf.Put([]byte("CurrentTerm"), key(3)))
	}))
	must(t, db.Update(func(tx *bbolt.Tx) error { // and now some pages are free
		var err error
		for i := range uint64(200) {
			err = errors.Join(err, tx.Bucket([]byte("logs")).Delete(key(i)))
		}
		return err
	}))
	must(t, db.Close())
	return dir
}

// differences are the bytes of all files that differ; a file that is shorter differs in the bytes
// that are missing.
func differences(t *testing.T, a, b string) (total int) {
	t.Helper()
	must(t, filepath.Walk(a, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		rel, err := filepath.Rel(a, path)
		must(t, err)
		before, err := os.ReadFile(path)
		must(t, err)
		after, err := os.ReadFile(filepath.Join(b, rel))
		must(t, err)
		for i := range before {
			if i >= len(after) || before[i] != after[i] {
				total++
			}
		}
		return nil
	}))
	return total
}

func TestDamage(t *testing.T) {
	for _, c := range []struct {
		name        string
		do          func(*rand.Rand, string) (string, error)
		least, most int
	}{
		{"FlipLog", FlipLog, 1, 1},
		{"TruncateLog", TruncateLog, 1, 10 << 20},
		{"TearLog", TearLog, 1, 1 << 20},
		{"FlipSnapshot", FlipSnapshot, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			good := nodeFiles(t)
			said := map[string]bool{}
			for seed := range uint64(10) {
				bad := t.TempDir()
				must(t, os.CopyFS(bad, os.DirFS(good)))
				what, err := c.do(rand.New(rand.NewPCG(seed, 0)), bad)
				must(t, err)
				if n := differences(t, good, bad); n < c.least || n > c.most {
					t.Errorf("%s: %d bytes differ", what, n)
				}
				said[what] = true
			}
			if len(said) < 5 {
				t.Errorf("ten seeds did no more than %v", said)
			}
			if _, err := c.do(rand.New(rand.NewPCG(0, 0)), t.TempDir()); !errors.Is(err, ErrNothingToDamage) {
				t.Errorf("of an empty directory: %v", err)
			}
		})
	}
}

// TestPagesInUse checks that pagesInUse finds all keys and values of a file, and as many pages as
// bbolt counts.
func TestPagesInUse(t *testing.T) {
	path := filepath.Join(nodeFiles(t), logFile)
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	used, err := pagesInUse(f)
	must(t, err)
	var inUse []byte
	pages := int64(0)
	for _, s := range used {
		b := make([]byte, s.end-s.off)
		_, err := f.ReadAt(b, s.off)
		must(t, err)
		inUse = append(inUse, b...)
		pages += (s.end-1)/pageBytes - s.off/pageBytes + 1
	}
	if got := bytes.Count(inUse, []byte("eeeeeeeeee")); got*10 < 200*5500 {
		t.Errorf("%d bytes of values are in these pages", 10*got)
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	must(t, err)
	defer db.Close()
	must(t, db.View(func(tx *bbolt.Tx) error {
		s := tx.Bucket([]byte("logs")).Stats()
		want := int64(s.BranchPageN+s.BranchOverflowN+s.LeafPageN+s.LeafOverflowN) + 1 // and the root, with the inline bucket
		if pages > want || pages < want-int64(s.LeafOverflowN)/2 {
			t.Errorf("%d pages, but bbolt counts %d", pages, want)
		}
		return nil
	}))
}

func TestEmpty(t *testing.T) {
	dir := nodeFiles(t)
	what, err := Empty(dir)
	must(t, err)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 || what != "1 files and directories deleted" {
		t.Errorf("%s, and left %v (%v)", what, entries, err)
	}
}
