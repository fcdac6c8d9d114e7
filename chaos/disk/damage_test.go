package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	must(t, os.MkdirAll(filepath.Join(dir, logDir), 0o755))
	store(t, filepath.Join(dir, logDir, "0000000000000001.segment"), logOf(300, 1), false)
	store(t, filepath.Join(dir, logDir, "0000000000000002.segment"), logOf(200, 3)+strings.Repeat("\x00", 100_000), false)
	return dir
}

// logOf returns a segment of entries, so many in each append.
func logOf(entries, each int) string {
	b := bytes.Repeat([]byte("b"), segmentBlock)
	for i := range entries {
		start, size := len(b), 500+i%3*5000
		b = append(b, make([]byte, frameHeader)...)
		binary.LittleEndian.PutUint32(b[start+4:], uint32(size))
		binary.LittleEndian.PutUint64(b[start+8:], uint64(i+1))
		binary.LittleEndian.PutUint32(b[start+32:], uint32(i/each+1))
		b[start+frameHeader-1] = frameMark
		b = append(b, bytes.Repeat([]byte("e"), size)...)
		b = append(b, bytes.Repeat([]byte{0xff}, frameAlign-len(b)%frameAlign)...)
	}
	return string(b)
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

// TestSegments checks that segments finds all entries of a log, and its last append.
func TestSegments(t *testing.T) {
	dir := nodeFiles(t)
	all, err := segments(dir)
	must(t, err)
	if len(all) != 2 || len(all[0].frames) != 300 || len(all[1].frames) != 200 || all[1].last != 198 {
		t.Fatalf("%d segments, of %d and %d entries, the last append begins with %d", len(all), len(all[0].frames), len(all[1].frames), all[1].last)
	}
	for _, s := range all {
		content, err := os.ReadFile(s.path)
		must(t, err)
		for i, f := range s.frames {
			if got := bytes.Count(content[f.off:f.end], []byte("e")); got < 500+i%3*5000 {
				t.Fatalf("entry %d has %d bytes of data", i+1, got)
			}
		}
	}
}

func TestEmpty(t *testing.T) {
	dir := nodeFiles(t)
	what, err := Empty(dir)
	must(t, err)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 || what != "1 files and directories deleted" {
		t.Errorf("%s, and left %v (%v)", what, entries, err)
	}
}
