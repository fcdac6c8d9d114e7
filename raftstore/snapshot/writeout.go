package snapshot

import (
	"os"
	"path/filepath"

	"quorate/raftstore/log/diskio"
)

// writeOutBytes is how much of a snapshot waits in the kernel's memory to be written to disk. All
// of it at the end would take seconds, in which each sync of the log waits, and with it each write.
const writeOutBytes = 1 << 20

// writtenOut writes the state file of a snapshot to disk while it grows. The zero value has written
// nothing.
type writtenOut struct {
	file  *os.File // nil before the first part
	bytes int64
}

// upTo writes out the bytes that have been written to the state file in a folder, if they are many.
// The last few kilobytes may still be in the writer's buffer.
func (w *writtenOut) upTo(dir string, bytes int64) (err error) {
	if bytes-w.bytes < writeOutBytes {
		return nil
	}
	if w.file == nil {
		if w.file, err = os.Open(filepath.Join(dir, stateFile)); err != nil {
			return err
		}
	}
	err = diskio.WriteOut(w.file, w.bytes, bytes-w.bytes)
	w.bytes = bytes
	return err
}

// close closes the file, which was only read.
func (w *writtenOut) close() {
	if w.file != nil {
		_ = w.file.Close()
	}
}
