package disk

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The operations on one inode.

// write writes as many bytes as fit. It returns an error if none fit.
func (v *volume) write(n *inode, data []byte, off int64) (int, error) {
	end, err := v.room(n.content, off, off+int64(len(data)))
	if err != nil {
		return 0, err
	}
	written, err := n.content.write(data[:end-off], off)
	n.modified = time.Now()
	v.last = extent{file: n, off: off, end: off + int64(written)}
	return written, err
}

func (v *volume) resize(n *inode, size int64) error {
	n.modified = time.Now()
	return n.content.resize(size)
}

// allocate implements the modes of fallocate(2) that files need here.
func (v *volume) allocate(n *inode, off, end int64, mode uint32) error {
	switch mode {
	case unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE:
		n.modified = time.Now()
		return n.content.punch(off, end)
	case 0, unix.FALLOC_FL_KEEP_SIZE:
		if room, err := v.room(n.content, off, end); err != nil || room < end {
			return syscall.ENOSPC
		}
		if mode == 0 && end > n.content.size {
			if err := v.resize(n, end); err != nil {
				return err
			}
		}
		n.content.blocks.take(off, end)
		return nil
	default:
		return syscall.EOPNOTSUPP
	}
}

// describe changes attributes and, unless it is zero, the time of the last change.
func (v *volume) describe(n *inode, a attributes, modified time.Time) error {
	path, there := n.path(v), n.links > 0 || n.content != nil
	if a != n.now && there {
		if err := dress(path, a); err != nil {
			return err
		}
	}
	n.now = a
	if modified.IsZero() {
		return nil
	}
	n.modified = modified
	if !there {
		return nil
	}
	at := unix.NsecToTimespec(modified.UnixNano())
	return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW)
}

// sync makes durable what an fsync of the inode makes durable.
func (v *volume) sync(n *inode) {
	n.safe = n.now
	if n.content != nil {
		n.content.sync()
	}
	v.syncNames(n)
}
