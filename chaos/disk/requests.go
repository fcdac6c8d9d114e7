package disk

import (
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// attrValid is how long the kernel may cache the attributes of a file: only the kernel changes
// them, and a power cut replaces every inode. Names and directories aren't cached.
const attrValid = time.Hour

// requests is the disk as the kernel sees it: it translates requests, finds inodes, applies faults
// and locks. The methods are those of fuse.RawFileSystem.
type requests struct {
	fuse.RawFileSystem
	d *Disk
}

func (r *requests) String() string { return "quorate-disk" }

// inode returns an inode. Inodes from before a power cut no longer exist.
func (r *requests) inode(id uint64) (*inode, error) {
	if n := r.d.files.inodes[id]; n != nil {
		return n, nil
	}
	return nil, syscall.ESTALE
}

func (r *requests) dir(id uint64) (*inode, error) {
	n, err := r.inode(id)
	if err == nil && !n.isDir() {
		err = syscall.ENOTDIR
	}
	return n, err
}

// refused counts a request that fails because of the faults that are set.
func (r *requests) refused() error {
	err := r.d.faults.refusal()
	if err != nil {
		r.d.stats.Refused++
	}
	return err
}

// change runs a function that changes the disk, under the lock, unless faults forbid it.
func (r *requests) change(do func() error) fuse.Status {
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	if err := r.refused(); err != nil {
		return fuse.ToStatus(err)
	}
	return fuse.ToStatus(do())
}

// look runs a function that changes nothing.
func (r *requests) look(do func() error) fuse.Status {
	r.d.mu.RLock()
	defer r.d.mu.RUnlock()
	return fuse.ToStatus(do())
}

func entryOut(n *inode, out *fuse.EntryOut) {
	out.NodeId, out.Generation = n.id, 1
	n.attr(&out.Attr)
	if !n.isDir() {
		out.SetAttrTimeout(attrValid)
	}
}

func (r *requests) Lookup(_ <-chan struct{}, in *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	return r.look(func() error {
		dir, err := r.dir(in.NodeId)
		if err != nil {
			return err
		}
		n := dir.entries[name]
		if n == nil {
			return syscall.ENOENT
		}
		entryOut(n, out)
		return nil
	})
}

func (r *requests) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	return r.look(func() error {
		n, err := r.inode(in.NodeId)
		if err != nil {
			return err
		}
		attrOut(n, out)
		return nil
	})
}

func attrOut(n *inode, out *fuse.AttrOut) {
	n.attr(&out.Attr)
	if !n.isDir() {
		out.SetTimeout(attrValid)
	}
}

func (r *requests) Readlink(_ <-chan struct{}, in *fuse.InHeader) (target []byte, status fuse.Status) {
	status = r.look(func() error {
		n, err := r.inode(in.NodeId)
		if err != nil {
			return err
		}
		if n.content != nil || n.isDir() {
			return syscall.EINVAL
		}
		target = []byte(n.target)
		return nil
	})
	return target, status
}

func (r *requests) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	return r.look(func() error {
		s, err := r.d.files.statfs()
		out.FromStatfsT(&syscall.Statfs_t{
			Bsize: s.Bsize, Frsize: s.Frsize, Blocks: s.Blocks, Bfree: s.Bfree, Bavail: s.Bavail,
			Files: s.Files, Ffree: s.Ffree, Namelen: s.Namelen,
		})
		return err
	})
}

// make creates a name with do, which returns its inode.
func (r *requests) make(parent uint64, out *fuse.EntryOut, do func(dir *inode) (*inode, error)) fuse.Status {
	return r.change(func() error {
		dir, err := r.dir(parent)
		if err != nil {
			return err
		}
		n, err := do(dir)
		if err != nil {
			return err
		}
		entryOut(n, out)
		return nil
	})
}

func (r *requests) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	return r.make(in.NodeId, out, func(dir *inode) (*inode, error) {
		return r.d.files.create(dir, name, attributes{mode: in.Mode, uid: in.Uid, gid: in.Gid})
	})
}

func (r *requests) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return r.make(in.NodeId, out, func(dir *inode) (*inode, error) {
		return r.d.files.create(dir, name, attributes{mode: syscall.S_IFDIR | in.Mode&0o7777, uid: in.Uid, gid: in.Gid})
	})
}

func (r *requests) Symlink(_ <-chan struct{}, in *fuse.InHeader, target, name string, out *fuse.EntryOut) fuse.Status {
	return r.make(in.NodeId, out, func(dir *inode) (*inode, error) {
		return r.d.files.symlink(dir, name, target, in.Uid, in.Gid)
	})
}

func (r *requests) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	return r.make(in.NodeId, out, func(dir *inode) (*inode, error) {
		n, err := r.inode(in.Oldnodeid)
		if err != nil {
			return nil, err
		}
		return n, r.d.files.link(n, dir, name)
	})
}

func (r *requests) Unlink(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return r.remove(in.NodeId, name, false)
}

func (r *requests) Rmdir(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return r.remove(in.NodeId, name, true)
}

func (r *requests) remove(parent uint64, name string, directory bool) fuse.Status {
	return r.change(func() error {
		dir, err := r.dir(parent)
		if err != nil {
			return err
		}
		return r.d.files.remove(dir, name, directory)
	})
}

func (r *requests) Rename(_ <-chan struct{}, in *fuse.RenameIn, name, newName string) fuse.Status {
	return r.change(func() error {
		from, err := r.dir(in.NodeId)
		if err != nil {
			return err
		}
		to, err := r.dir(in.Newdir)
		if err != nil {
			return err
		}
		return r.d.files.rename(from, name, to, newName, in.Flags)
	})
}
