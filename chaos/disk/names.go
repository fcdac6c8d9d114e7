package disk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The operations on names: each changes the backing tree, what processes see, and the journal, in
// this order.

// vacant returns the path of a new name on the backing disk.
func (v *volume) vacant(dir *inode, name string) (string, error) {
	switch {
	case !dir.isDir():
		return "", syscall.ENOTDIR
	case dir.links == 0:
		return "", syscall.ENOENT // it was removed while somebody had it open
	case dir.entries[name] != nil:
		return "", syscall.EEXIST
	default:
		return filepath.Join(dir.path(v), name), nil
	}
}

// create makes a file, or a directory if mode says so.
func (v *volume) create(dir *inode, name string, a attributes) (*inode, error) {
	path, err := v.vacant(dir, name)
	if err != nil {
		return nil, err
	}
	n := &inode{now: a, safe: a, modified: time.Now()}
	switch a.mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		if n.content, err = openContent(v.newHolder()); err != nil {
			return nil, err
		}
		if err := errors.Join(dress(n.content.holder, a), os.Link(n.content.holder, path)); err != nil {
			return nil, errors.Join(err, n.content.remove())
		}
	case syscall.S_IFDIR:
		n.entries, n.durable = map[string]*inode{}, map[string]*inode{}
		if err := errors.Join(os.Mkdir(path, 0o700), dress(path, a)); err != nil {
			return nil, err
		}
	default:
		return nil, syscall.EPERM
	}
	return v.born(n, dir, name), nil
}

// symlink makes a symbolic link.
func (v *volume) symlink(dir *inode, name, target string, uid, gid uint32) (*inode, error) {
	path, err := v.vacant(dir, name)
	if err != nil {
		return nil, err
	}
	if err := os.Symlink(target, path); err != nil {
		return nil, err
	}
	a := attributes{mode: syscall.S_IFLNK | 0o777, uid: uid, gid: gid}
	return v.born(&inode{now: a, safe: a, modified: time.Now(), target: target}, dir, name), nil
}

func (v *volume) born(n *inode, dir *inode, name string) *inode {
	v.add(n)
	v.enter(dir, name, n)
	v.record(n, entry{dir, name, n})
	return n
}

// link gives a file one more name.
func (v *volume) link(n, dir *inode, name string) error {
	path, err := v.vacant(dir, name)
	switch {
	case err != nil:
		return err
	case n.content == nil:
		return syscall.EPERM
	case n.links == 0:
		return syscall.ENOENT
	}
	if err := os.Link(n.content.holder, path); err != nil {
		return err
	}
	v.enter(dir, name, n)
	v.record(n, entry{dir, name, n})
	return nil
}

// remove removes a name: that of a directory, which must be empty, or of another inode.
func (v *volume) remove(dir *inode, name string, directory bool) error {
	n := dir.entries[name]
	switch {
	case n == nil:
		return syscall.ENOENT
	case directory && !n.isDir():
		return syscall.ENOTDIR
	case !directory && n.isDir():
		return syscall.EISDIR
	case len(n.entries) > 0:
		return syscall.ENOTEMPTY
	}
	if err := os.Remove(filepath.Join(dir.path(v), name)); err != nil {
		return err
	}
	v.leave(dir, name)
	v.record(n, entry{dir, name, nil})
	v.reap(n)
	return nil
}

// rename renames atomically, and replaces the inode with the new name, if any.
func (v *volume) rename(from *inode, name string, to *inode, newName string, flags uint32) error {
	n, over := from.entries[name], to.entries[newName]
	switch {
	case n == nil || to.links == 0:
		return syscall.ENOENT
	case flags&^unix.RENAME_NOREPLACE != 0:
		return syscall.EINVAL
	case over != nil && flags&unix.RENAME_NOREPLACE != 0:
		return syscall.EEXIST
	case over == n:
		return nil // two names of one file: both stay
	case n.isDir() && to.isBelow(n):
		return syscall.EINVAL
	case over != nil && over.isDir() != n.isDir():
		if n.isDir() {
			return syscall.ENOTDIR
		}
		return syscall.EISDIR
	case over != nil && len(over.entries) > 0:
		return syscall.ENOTEMPTY
	}
	// os.Rename never replaces a directory.
	if err := unix.Rename(filepath.Join(from.path(v), name), filepath.Join(to.path(v), newName)); err != nil {
		return err
	}
	if over != nil {
		v.leave(to, newName)
	}
	v.leave(from, name)
	v.enter(to, newName, n)
	v.record(n, entry{to, newName, n}, entry{from, name, nil})
	if over != nil {
		over.touched = v.changes
		v.reap(over)
	}
	return nil
}

// dress sets the owner and mode of a file on the backing disk. Symbolic links have no mode.
func dress(path string, a attributes) error {
	if err := os.Lchown(path, int(a.uid), int(a.gid)); err != nil || a.mode&syscall.S_IFMT == syscall.S_IFLNK {
		return err
	}
	return syscall.Chmod(path, a.mode&0o7777)
}
