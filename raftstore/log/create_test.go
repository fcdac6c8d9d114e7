package log

import (
	"errors"
	"os"
	"testing"

	"quorate/raftstore/smalldisk"
)

// A full disk has space for a part of what Open writes first. Open fails then, and succeeds once there
// is space: the log of a node that has never stored anything must not look damaged.
func TestCreateLogOnFullDisk(t *testing.T) {
	full := false
	for left := int64(0); ; left += 4096 {
		disk := smalldisk.New(t, 1<<20)
		path := disk.Dir + "/log"
		disk.Fill(left)
		s, err := Open(Config{Dir: path, Logger: quiet()})
		if err == nil {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			break
		}
		full = true
		if !OutOfSpace(err) {
			t.Fatalf("with %d bytes left: %v", left, err)
		}
		disk.Clear()
		s = open(t, path)
		store(t, s, entries(1, 10, 100))
		wantContent(t, s, 1, 10, 100)
	}
	if !full {
		t.Error("no attempt found the disk full")
	}
}

// A crash while the log is created leaves a part of the temporary folder.
func TestCreateLogAfterCrash(t *testing.T) {
	path := pathOf(t)
	if err := errors.Join(os.Mkdir(path+newSuffix, 0o700), os.WriteFile(path+newSuffix+"/stable", make([]byte, 4096), 0o600)); err != nil {
		t.Fatal(err)
	}
	store(t, open(t, path), entries(1, 10, 100))
	if _, err := os.Stat(path + newSuffix); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the temporary folder is still there: %v", err)
	}
}
