package disk

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

const (
	fuseDevice = "/dev/fuse"
	fuseType   = "fuse.quorate-disk"
	// maxWriteBytes is the size of the largest request that kernels send by default.
	maxWriteBytes = 1 << 20
	// pollName is a file that the FUSE server simulates, to tell the kernel that nothing here is
	// ever polled.
	pollName = ".go-fuse-epoll-hack"
)

// mount mounts the disk and serves it. It does not use the mount function of the FUSE library,
// because that leaves the device open in child processes: a node that outlives its disk would then
// keep the mount alive.
func (d *Disk) mount() error {
	if err := unmountDead(d.dir); err != nil {
		return err
	}
	device, err := unix.Open(fuseDevice, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d,max_read=%d,allow_other,default_permissions",
		device, os.Geteuid(), os.Getegid(), maxWriteBytes)
	if err := unix.Mount("quorate-disk", d.dir, fuseType, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOATIME, options); err != nil {
		return errors.Join(err, unix.Close(device))
	}
	d.server, err = fuse.NewServer(&requests{RawFileSystem: fuse.NewDefaultRawFileSystem(), d: d}, "/dev/fd/"+strconv.Itoa(device),
		&fuse.MountOptions{
			Logger: slog.NewLogLogger(d.log.Handler(), slog.LevelWarn), MaxWrite: maxWriteBytes, MaxBackground: 64,
			DisableXAttrs: true, DisableReadDirPlus: true, DisableSplice: true,
			// Contents change only through this kernel, and it need not forget its pages when a
			// time changes.
			ExplicitDataCacheControl: true,
		})
	if err != nil {
		return errors.Join(err, d.unmount())
	}
	go func() { // owned by Close, which waits for served
		d.server.Serve()
		close(d.served)
	}()
	if err := d.neverPolled(); err != nil {
		err = errors.Join(err, d.unmount())
		<-d.served
		return err
	}
	return nil
}

// neverPolled lets the kernel ask once whether files of this mount can be polled, and the server
// answers that they cannot. Otherwise the runtime of every Go program that opens a file here would
// register the file with epoll, which in this process waits for a response of this same process.
func (d *Disk) neverPolled() error {
	fd, err := unix.Open(filepath.Join(d.dir, pollName), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return errors.Join(err, unix.Close(fd))
}

// unmount detaches the disk from the kernel immediately. MNT_FORCE aborts pending requests, also
// those from other mount namespaces, so that the server ends. MNT_DETACH removes the mount even if
// a process still uses it.
func (d *Disk) unmount() error { return unix.Unmount(d.dir, unix.MNT_FORCE|unix.MNT_DETACH) }

// unmountDead removes a mount whose server has ended.
func unmountDead(dir string) error {
	var s unix.Stat_t
	for {
		err := unix.Stat(dir, &s)
		if !errors.Is(err, syscall.ENOTCONN) && !errors.Is(err, syscall.ECONNABORTED) {
			return err
		}
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			return err
		}
	}
}
