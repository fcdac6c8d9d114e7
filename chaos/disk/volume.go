package disk

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// The entries of a backing directory.
const (
	treeName    = "tree"     // names, as processes see them
	rebuiltName = "tree.new" // names while a power cut is made
	filesName   = "files"    // one more name of each file, by number, so that no contents go before their last durable name
)

// volume holds the files of a disk, as processes see them and as a power cut leaves them. It does
// no locking.
type volume struct {
	backing  string
	strict   bool
	root     *inode
	inodes   map[uint64]*inode
	ids      uint64 // given so far
	holders  uint64 // the same
	journal  []change
	changes  uint64                     // ever recorded
	capacity int64                      // in pages
	opens    int                        // handles of all inodes
	listed   uint64                     // listings ever made
	listings map[uint64][]fuse.DirEntry // of the directories that are open, by handle
	last     extent                     // the latest write of all
	log      *slog.Logger
}

// extent is a range of bytes of a file.
type extent struct {
	file     *inode
	off, end int64
}

func (v *volume) treeDir() string { return filepath.Join(v.backing, treeName) }

// newHolder returns an unused name below files.
func (v *volume) newHolder() string {
	v.holders++
	return filepath.Join(v.backing, filesName, strconv.FormatUint(v.holders, 10))
}

// openVolume opens the volume in a backing directory, all of which counts as durable, or creates an
// empty one.
func openVolume(backing string, log *slog.Logger, options ...Option) (*volume, error) {
	v := &volume{backing: backing, log: log, listings: map[uint64][]fuse.DirEntry{}}
	for _, option := range options {
		option(v)
	}
	v.limit(nil)
	rebuilt := filepath.Join(backing, rebuiltName)
	if _, err := os.Lstat(v.treeDir()); errors.Is(err, os.ErrNotExist) { // the last power cut was broken off between its last steps
		if err := os.Rename(rebuilt, v.treeDir()); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	files := filepath.Join(backing, filesName)
	err := errors.Join(os.RemoveAll(rebuilt), os.RemoveAll(files), os.MkdirAll(files, 0o700), os.MkdirAll(v.treeDir(), 0o755))
	if err != nil {
		return nil, err
	}
	if err := v.load(); err != nil {
		return nil, errors.Join(err, v.close())
	}
	return v, nil
}

// load reads the names of the backing directory.
func (v *volume) load() error {
	v.inodes = map[uint64]*inode{}
	type hostFile struct{ dev, ino uint64 }
	known := map[hostFile]*inode{}
	dirs := map[string]*inode{}
	return filepath.Walk(v.treeDir(), func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		stat := info.Sys().(*syscall.Stat_t)
		n := known[hostFile{stat.Dev, stat.Ino}]
		if n == nil {
			n = adopted(info)
			if err := v.fill(n, path, info.Mode()); err != nil {
				return err
			}
			v.add(n)
			known[hostFile{stat.Dev, stat.Ino}] = n
		}
		if n.isDir() {
			dirs[path] = n
		}
		if v.root == nil {
			v.root, n.links, n.pins = n, 1, 1
			return nil
		}
		parent, name := dirs[filepath.Dir(path)], filepath.Base(path)
		v.enter(parent, name, n)
		parent.durable[name] = n
		v.pin(n)
		return nil
	})
}

// fill initializes an inode by its type from the backing disk.
func (v *volume) fill(n *inode, path string, mode os.FileMode) (err error) {
	switch {
	case mode.IsRegular():
		holder := v.newHolder()
		if err = os.Link(path, holder); err == nil {
			n.content, err = openContent(holder)
		}
	case mode.IsDir():
		n.entries, n.durable = map[string]*inode{}, map[string]*inode{}
	case mode&os.ModeSymlink != 0:
		n.target, err = os.Readlink(path)
	default:
		err = fmt.Errorf("%s is neither a file nor a directory nor a symbolic link", path)
	}
	return err
}

// add gives an inode a number.
func (v *volume) add(n *inode) {
	v.ids++
	n.id = v.ids
	v.inodes[n.id] = n
}

// enter and leave change the names that processes see; their callers change the journal and the
// backing disk.
func (v *volume) enter(dir *inode, name string, n *inode) {
	dir.entries[name] = n
	dir.modified = time.Now()
	n.links++
	n.parent, n.name = dir, name
}

func (v *volume) leave(dir *inode, name string) *inode {
	n := dir.entries[name]
	delete(dir.entries, name)
	dir.modified = time.Now()
	n.links--
	return n
}

// reap forgets an inode that no process can reach any more.
func (v *volume) reap(n *inode) {
	if n.links+n.opens+n.pins > 0 || v.inodes[n.id] != n {
		return
	}
	delete(v.inodes, n.id)
	for _, child := range n.durable {
		v.unpin(child)
	}
	if v.last.file == n {
		v.last = extent{}
	}
	if n.content != nil {
		if err := n.content.remove(); err != nil {
			v.log.Warn("a removed file stays on the backing disk", "error", err)
		}
	}
}

// close closes the backing files. It keeps the tree.
func (v *volume) close() error {
	var errs []error
	for _, n := range v.inodes {
		if n.content != nil {
			errs = append(errs, n.content.file.Close())
		}
	}
	v.inodes = nil
	return errors.Join(append(errs, os.RemoveAll(filepath.Join(v.backing, filesName)))...)
}
