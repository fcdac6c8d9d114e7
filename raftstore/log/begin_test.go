package log

import (
	"errors"
	"os"
	"testing"

	"quorate/raftstore/smalldisk"
)

// TestBegunOnAFullDisk: bolt writes its first pages where the file is to be, and some of them find
// space. A node that was never more than about to start must start when there is space.
func TestBegunOnAFullDisk(t *testing.T) {
	full := false
	for left := int64(0); ; left += 4096 {
		disk := smalldisk.New(t, 1<<20)
		path := disk.Dir + "/log.db"
		disk.Fill(left)
		s, err := Open(Config{Path: path, Logger: quiet()})
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
		t.Error("the disk was never full")
	}
}

// A crash leaves a part of the file that was to become the log.
func TestBegunAgain(t *testing.T) {
	path := pathOf(t)
	if err := os.WriteFile(path+replacementSuffix, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	store(t, open(t, path), entries(1, 10, 100))
	if _, err := os.Stat(path + replacementSuffix); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was left is still there: %v", err)
	}
}
