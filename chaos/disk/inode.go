package disk

import (
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// attributes are what chmod and chown change; mode has the type of the file, too.
type attributes struct{ mode, uid, gid uint32 }

// inode is a file, directory or symbolic link, whatever names it has.
type inode struct {
	id        uint64     // the kernel's name for it; a power cut gives another, so that nothing the kernel has cached is found
	now, safe attributes // as processes see them, and as a power cut leaves them
	modified  time.Time
	links     int // names that processes see
	opens     int // handles
	pins      int // durable names, and mentions in the journal
	touched   uint64

	parent *inode // where it got its latest name
	name   string

	entries map[string]*inode // of a directory
	durable map[string]*inode // the same, as a power cut leaves them

	target  string   // of a symbolic link
	content *content // of a file
}

func (n *inode) isDir() bool { return n.entries != nil }

// path returns the path of the inode on the backing disk. For a file with several names it is the
// permanent one.
func (n *inode) path(v *volume) string {
	switch {
	case n == v.root:
		return v.treeDir()
	case n.content != nil:
		return n.content.holder
	default:
		return filepath.Join(n.parent.path(v), n.name)
	}
}

// isBelow reports whether a directory is dir or is inside it, at any depth.
func (n *inode) isBelow(dir *inode) bool {
	for ; n != nil; n = n.parent {
		if n == dir {
			return true
		}
	}
	return false
}

// attr describes the inode to the kernel.
func (n *inode) attr(out *fuse.Attr) {
	*out = fuse.Attr{
		Ino: n.id, Mode: n.now.mode, Owner: fuse.Owner{Uid: n.now.uid, Gid: n.now.gid},
		Nlink: uint32(n.links), Blksize: pageBytes,
	}
	switch {
	case n.isDir():
		out.Nlink++
		for _, child := range n.entries {
			if child.isDir() {
				out.Nlink++
			}
		}
	case n.content != nil:
		out.Size = uint64(n.content.size)
		out.Blocks = uint64(n.content.blocks.used) * (pageBytes / 512)
	default:
		out.Size = uint64(len(n.target))
	}
	out.SetTimes(&n.modified, &n.modified, &n.modified)
}

// parentID returns the number of the inode that ".." refers to.
func (n *inode) parentID() uint64 {
	if n.parent == nil {
		return n.id
	}
	return n.parent.id
}

// adopted returns an inode for a file that exists on the backing disk; all of it counts as durable.
func adopted(info os.FileInfo) *inode {
	stat := info.Sys().(*syscall.Stat_t)
	a := attributes{mode: stat.Mode, uid: stat.Uid, gid: stat.Gid}
	return &inode{now: a, safe: a, modified: info.ModTime()}
}
