package disk

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

const (
	// releaseWait bounds how long Crash waits for the kernel to report that the files of a process
	// that has ended are closed.
	releaseWait = 10 * time.Second
	releasePoll = 2 * time.Millisecond
)

// Disk is a mounted file system. Its methods are safe for concurrent use.
type Disk struct {
	dir    string
	log    *slog.Logger
	server *fuse.Server
	served chan struct{} // closed when the server has ended
	wait   time.Duration // releaseWait

	hanging atomic.Int64
	reads   atomic.Int64
	wipes   sync.WaitGroup // of the kernel's cache, after writes that failed

	mu      sync.RWMutex
	files   *volume       // guarded by mu
	faults  Faults        // guarded by mu
	changed chan struct{} // closed, and made anew, when faults change; guarded by mu
	closing bool          // guarded by mu
	stats   Stats         // guarded by mu
}

// Stats counts the operations of a disk since it was mounted.
type Stats struct {
	Reads        int64 // that the page cache of the kernel didn't serve
	Writes       int64 // requests to write; one holds at most 1 MiB
	WrittenBytes int64
	Fsyncs       int64 // of files and directories, that succeeded
	Refused      int64 // requests that failed because of the faults set
	Hanging      int64 // requests that wait at this moment, for a delay to pass or the disk to heal
	Crashes      int64 // by Crash and Tear
	LostBytes    int64 // that crashes took, or put back: what was written or cut off, and not synced
	LostFiles    int64 // to which these bytes belonged
	LostNames    int64 // changes of names that crashes took back
}

// Option changes the guarantees of a disk.
type Option func(*volume)

// Strict makes a change of names durable only by an fsync of its directory, which is all that POSIX
// promises. Without Strict, changes of names become durable in order, and also by an fsync of the
// file that they concern, as on ext4.
func Strict(v *volume) { v.strict = true }

// Available returns why disks can't be mounted here, or nil.
func Available() error {
	if os.Geteuid() != 0 {
		return errors.New("mounting a file system needs root")
	}
	device, err := os.OpenFile(fuseDevice, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("file systems in user space are not available: %w", err)
	}
	return device.Close()
}

// Mount mounts a disk at dir, an existing directory, and returns when it can be used. The disk
// keeps its files in the directory backing, which Mount creates if necessary; files of an earlier
// mount count as durable. A mount at dir whose server has ended is removed first. The caller must
// call Close.
func Mount(dir, backing string, log *slog.Logger, options ...Option) (*Disk, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := Available(); err != nil {
		return nil, err
	}
	log = log.With("component", "chaos/disk", "dir", dir)
	files, err := openVolume(backing, log, options...)
	if err != nil {
		return nil, fmt.Errorf("open backing directory %s: %w", backing, err)
	}
	d := &Disk{dir: dir, log: log, served: make(chan struct{}), wait: releaseWait, files: files, changed: make(chan struct{})}
	if err := d.mount(); err != nil {
		return nil, errors.Join(fmt.Errorf("mount disk at %s: %w", dir, err), files.close())
	}
	return d, nil
}

// Dir returns the directory at which the disk is mounted.
func (d *Disk) Dir() string { return d.dir }

// Set replaces the faults of the disk. The zero Faults heals it and releases hanging requests.
func (d *Disk) Set(f Faults) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.set(f)
}

func (d *Disk) set(f Faults) {
	d.faults = f
	d.files.limit(f.Free)
	close(d.changed)
	d.changed = make(chan struct{})
}

// Stats returns the counts up to now.
func (d *Disk) Stats() Stats {
	d.mu.RLock()
	defer d.mu.RUnlock()
	s := d.stats
	s.Reads, s.Hanging = d.reads.Load(), d.hanging.Load()
	return s
}

// Crash simulates a power cut: all unsynced changes are lost. All processes that used the disk must
// have ended. If files stay open for ten seconds, Crash returns an error and has changed nothing.
func (d *Disk) Crash() error { return d.crash(func() {}) }

// Tear is Crash in the middle of a write: a part of the unsynced changes, chosen with r, survives.
// Of the latest write, a prefix or a random set of its 512-byte sectors survives, but never all of
// them, and none if it has only one. Of other writes whole pages survive, and of changes of names a
// prefix, or any of them on a Strict disk.
func (d *Disk) Tear(r *rand.Rand) error { return d.crash(func() { d.files.tear(r) }) }

func (d *Disk) crash(first func()) error {
	if err := d.lockUnused(); err != nil {
		return err
	}
	defer d.mu.Unlock()
	first()
	lost := d.files.atStake()
	if err := d.files.crash(); err != nil {
		return fmt.Errorf("cut the power of disk %s: %w", d.dir, err)
	}
	d.stats.Crashes++
	d.stats.LostBytes += lost.bytes
	d.stats.LostFiles += lost.files
	d.stats.LostNames += lost.names
	d.log.Info("power cut", "lostBytes", lost.bytes, "lostFiles", lost.files, "lostNames", lost.names)
	return nil
}

// lockUnused locks mu while no file is open.
func (d *Disk) lockUnused() error {
	deadline := time.Now().Add(d.wait)
	tick := time.NewTicker(releasePoll)
	defer tick.Stop()
	for {
		d.mu.Lock()
		opens := d.files.opens
		if d.closing {
			d.mu.Unlock()
			return fmt.Errorf("disk %s is closed", d.dir)
		}
		if opens == 0 {
			return nil
		}
		d.mu.Unlock()
		if time.Now().After(deadline) {
			return fmt.Errorf("disk %s is in use: %d files or directories are open", d.dir, opens)
		}
		<-tick.C
	}
}

// Close unmounts the disk. Hanging requests fail with EIO, and open files become unusable. The
// backing directory keeps the state that processes saw last.
func (d *Disk) Close() error {
	d.mu.Lock()
	if d.closing {
		d.mu.Unlock()
		<-d.served
		return nil
	}
	d.closing = true
	close(d.changed)
	d.changed = make(chan struct{})
	d.mu.Unlock()

	err := d.unmount()
	<-d.served
	d.wipes.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if err = errors.Join(err, d.files.close()); err != nil {
		return fmt.Errorf("unmount disk %s: %w", d.dir, err)
	}
	return nil
}
