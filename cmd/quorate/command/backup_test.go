package command

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quorate/raftstore/backup"
	"quorate/raftstore/state"
)

// backupOf returns a backup of a cluster without objects.
func backupOf(t *testing.T, cluster string) []byte {
	t.Helper()
	tree := state.NewTree()
	tree.InitCluster(cluster)
	tree.Advance(7)
	var b bytes.Buffer
	if err := backup.Write(&b, tree.Publish(), backup.Header{Time: time.Unix(1_700_000_000, 0), Node: "n1"}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Only its owner may read a backup, because it has Secrets in clear text.
func TestBackupFileIsPrivate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "backup")
	if h, err := writeBackup(bytes.NewReader(backupOf(t, "c1")), file); err != nil || h.Index != 7 {
		t.Fatalf("header %+v, error %v", h, err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the file has mode %04o, want 0600", mode)
	}
}

// A backup that is truncated anywhere is an error, and leaves no file.
func TestIncompleteBackupLeavesNoFile(t *testing.T) {
	t.Parallel()
	whole := backupOf(t, "c1")
	for _, n := range []int{0, 1, len(whole) / 2, len(whole) - 1} {
		file := filepath.Join(t.TempDir(), "backup")
		if _, err := writeBackup(bytes.NewReader(whole[:n]), file); err == nil {
			t.Errorf("a backup truncated to %d of %d bytes was accepted", n, len(whole))
		}
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after %d bytes of %d there is a file (%v)", n, len(whole), err)
		}
	}
}
