package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestWriteOut checks that a growing state file is written out in parts of at least writeOutBytes,
// and that an error of the disk is not lost.
func TestWriteOut(t *testing.T) {
	dir := t.TempDir()
	var w writtenOut
	if err := w.upTo(dir, writeOutBytes-1); err != nil || w.bytes != 0 {
		t.Errorf("after few bytes: %d written out, %v", w.bytes, err)
	}
	if err := w.upTo(dir, writeOutBytes); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, stateFile), make([]byte, 3*writeOutBytes), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ upTo, written int64 }{
		{writeOutBytes, writeOutBytes}, {2*writeOutBytes - 1, writeOutBytes}, {3 * writeOutBytes, 3 * writeOutBytes},
	} {
		if err := w.upTo(dir, step.upTo); err != nil || w.bytes != step.written {
			t.Errorf("up to %d: %d written out, %v", step.upTo, w.bytes, err)
		}
	}
	w.close()
	if err := w.upTo(dir, 5*writeOutBytes); err == nil {
		t.Error("an error of the file is lost")
	}
}
