package disk

import (
	"maps"
	"slices"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// wipeWait bounds how long a failed write waits until the kernel has discarded its pages.
const wipeWait = 50 * time.Millisecond

func (r *requests) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	return r.make(in.NodeId, &out.EntryOut, func(dir *inode) (*inode, error) {
		n, err := r.d.files.create(dir, name, attributes{mode: syscall.S_IFREG | in.Mode&0o7777, uid: in.Uid, gid: in.Gid})
		if err == nil {
			r.opened(n, &out.OpenOut)
		}
		return n, err
	})
}

func (r *requests) Open(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	if in.Flags&syscall.O_ACCMODE != syscall.O_RDONLY && r.d.faults.ReadOnly {
		r.d.stats.Refused++
		return fuse.EROFS
	}
	n, err := r.inode(in.NodeId)
	if err == nil {
		r.opened(n, out)
	}
	return fuse.ToStatus(err)
}

// opened counts a handle. The kernel may keep its cached pages of the file: they belong to this
// inode, and thus do not precede a power cut.
func (r *requests) opened(n *inode, out *fuse.OpenOut) {
	n.opens++
	r.d.files.opens++
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_NOFLUSH
}

func (r *requests) Release(_ <-chan struct{}, in *fuse.ReleaseIn) { r.released(in.NodeId) }

func (r *requests) released(id uint64) {
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	if n, err := r.inode(id); err == nil && n.opens > 0 {
		n.opens--
		r.d.files.opens--
		r.d.files.reap(n)
	}
}

func (r *requests) Read(interrupted <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	if err := r.d.pause(interrupted, in.Pid, atRead); err != nil {
		return nil, fuse.ToStatus(err)
	}
	r.d.reads.Add(1)
	var got int
	status := r.look(func() error {
		n, err := r.file(in.NodeId)
		if err != nil {
			return err
		}
		got, err = n.content.read(buf, int64(in.Offset))
		return err
	})
	return fuse.ReadResultData(buf[:got]), status
}

// file returns an inode that has contents.
func (r *requests) file(id uint64) (*inode, error) {
	n, err := r.inode(id)
	if err == nil && n.content == nil {
		err = syscall.EINVAL
	}
	return n, err
}

func (r *requests) Write(interrupted <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	if err := r.d.pause(interrupted, in.Pid, atWrite); err != nil {
		return 0, fuse.ToStatus(err)
	}
	var written int
	status := r.change(func() error {
		n, err := r.file(in.NodeId)
		if err != nil {
			return err
		}
		written, err = r.d.files.write(n, data, int64(in.Offset))
		r.d.stats.Writes++
		r.d.stats.WrittenBytes += int64(written)
		return err
	})
	if written < len(data) {
		r.wipe(in.NodeId, int64(in.Offset)+int64(written), int64(len(data)-written))
	}
	return uint32(written), status
}

// wipe makes the kernel discard the cached pages of data that was not written. write(2) must not
// change what a process that has mapped the file sees if it fails, and with FUSE the kernel fills
// the page cache before the server responds. The kernel may keep a page locked until the write has
// been answered, so wipe waits for at most wipeWait.
func (r *requests) wipe(id uint64, off, length int64) {
	done := make(chan struct{})
	r.d.wipes.Go(func() {
		r.d.server.InodeNotify(id, off, length) // it fails when the kernel has forgotten the inode, which is as good
		close(done)
	})
	select {
	case <-done:
	case <-time.After(wipeWait):
	}
}

func (r *requests) Fallocate(interrupted <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	if err := r.d.pause(interrupted, in.Pid, atWrite); err != nil {
		return fuse.ToStatus(err)
	}
	return r.change(func() error {
		n, err := r.file(in.NodeId)
		if err != nil {
			return err
		}
		return r.d.files.allocate(n, int64(in.Offset), int64(in.Offset+in.Length), in.Mode)
	})
}

func (r *requests) Fsync(interrupted <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	if err := r.d.pause(interrupted, in.Pid, atFsync()); err != nil {
		return fuse.ToStatus(err)
	}
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	return fuse.ToStatus(r.sync(in.NodeId))
}

func (r *requests) FsyncDir(interrupted <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return r.Fsync(interrupted, in)
}

func (r *requests) sync(id uint64) error {
	n, err := r.inode(id)
	switch {
	case err != nil:
		return err
	case r.d.faults.ReadOnly:
		r.d.stats.Refused++
		return syscall.EROFS
	case r.d.faults.FailFsync && r.d.faults.FailAfter <= 0:
		r.d.stats.Refused++
		if n.content != nil {
			n.content.giveUp()
		}
		return syscall.EIO
	}
	r.d.files.sync(n)
	r.d.faults.FailAfter--
	r.d.stats.Fsyncs++
	return nil
}

func (r *requests) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	return r.change(func() error {
		n, err := r.inode(in.NodeId)
		if err != nil {
			return err
		}
		if size, ok := in.GetSize(); ok {
			if n.content == nil {
				return syscall.EINVAL
			}
			if err := r.d.files.resize(n, int64(size)); err != nil {
				return err
			}
		}
		a := n.now
		if mode, ok := in.GetMode(); ok {
			a.mode = a.mode&syscall.S_IFMT | mode
		}
		if uid, ok := in.GetUID(); ok {
			a.uid = uid
		}
		if gid, ok := in.GetGID(); ok {
			a.gid = gid
		}
		modified, _ := in.GetMTime()
		if err := r.d.files.describe(n, a, modified); err != nil {
			return err
		}
		attrOut(n, out)
		return nil
	})
}

func (r *requests) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	dir, err := r.dir(in.NodeId)
	if err != nil {
		return fuse.ToStatus(err)
	}
	dir.opens++
	r.d.files.opens++
	out.Fh = r.d.files.list(dir)
	return fuse.OK
}

func (r *requests) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return r.look(func() error {
		listing := r.d.files.listings[in.Fh]
		for i := int(in.Offset); i < len(listing) && out.AddDirEntry(listing[i]); i++ {
		}
		return nil
	})
}

func (r *requests) ReleaseDir(in *fuse.ReleaseIn) {
	r.d.mu.Lock()
	delete(r.d.files.listings, in.Fh)
	r.d.mu.Unlock()
	r.released(in.NodeId)
}

// list records the entries of a directory for a process that reads it while they change.
func (v *volume) list(dir *inode) uint64 {
	entries := []fuse.DirEntry{
		{Name: ".", Ino: dir.id, Mode: syscall.S_IFDIR, Off: 1},
		{Name: "..", Ino: dir.parentID(), Mode: syscall.S_IFDIR, Off: 2},
	}
	for _, name := range slices.Sorted(maps.Keys(dir.entries)) {
		n := dir.entries[name]
		entries = append(entries, fuse.DirEntry{Name: name, Ino: n.id, Mode: n.now.mode, Off: uint64(len(entries) + 1)})
	}
	v.listed++
	v.listings[v.listed] = entries
	return v.listed
}
