// Package reload follows files of settings, so that a change takes effect without a restart.
//
// A File compares what the file system says of the file with what it said before: notifications
// would miss files that are replaced by a rename or a link, as in the volumes of containers.
package reload

import (
	"context"
	"io/fs"
	"os"
	"time"
)

// interval is how often a file is checked for changes.
const interval = 5 * time.Second

// File is a file that may change.
type File struct {
	path string
	seen version
}

// version identifies a version of a file.
type version struct {
	modified time.Time
	size     int64
	mode     fs.FileMode
	fault    string // why stat failed
}

// Open looks at a file; call it before the file is read for the first time, so that no change is
// missed. The file need not exist.
func Open(path string) *File { return &File{path: path, seen: look(path)} }

// Path returns the path that was passed to Open.
func (f *File) Path() string { return f.path }

// Follow calls changed after each change of the file, within 5 seconds, until ctx ends. A file that
// is removed has changed, too. Follow is called once, and returns nil.
func (f *File) Follow(ctx context.Context, changed func()) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if now := look(f.path); now != f.seen {
			f.seen = now
			changed()
		}
	}
}

func look(path string) version {
	info, err := os.Stat(path)
	if err != nil {
		return version{fault: err.Error()}
	}
	return version{modified: info.ModTime(), size: info.Size(), mode: info.Mode()}
}
