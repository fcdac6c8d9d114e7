package disk

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"time"
)

// Faults is the set of faults of a disk at one time. The zero Faults is a healthy disk.
type Faults struct {
	FsyncDelay  time.Duration // added to each fsync of a file or a directory
	FsyncJitter time.Duration // added to FsyncDelay, at random up to this
	ReadDelay   time.Duration // added to each read that the page cache of the kernel doesn't serve
	WriteDelay  time.Duration // added to each write, of at most 1 MiB

	HangFsync  bool // fsync doesn't return before the disk heals or its caller is killed
	FailFsync  bool // fsync fails with EIO, after FailAfter that succeed, and what it was to write is given up
	FailWrites bool // whatever changes contents or names fails with EIO
	ReadOnly   bool // the same with EROFS, and so does fsync

	FailAfter int64 // fsyncs after Set that FailFsync exempts
	// Free is the number of bytes, in whole pages of 4 KiB, that can be allocated after Set. A
	// write that needs more is cut short, or fails with ENOSPC. Space that a removal or a
	// truncation frees can be allocated again, and names take no space. nil means no limit but that
	// of the backing disk. statfs(2) reports the space that is left.
	Free *int64
}

// killPoll is the interval at which the caller of a hanging request is examined after it got a
// signal.
const killPoll = 20 * time.Millisecond

// refusal returns the error of a request that would change the disk, nil if changes are accepted.
func (f Faults) refusal() error {
	switch {
	case f.ReadOnly:
		return syscall.EROFS
	case f.FailWrites:
		return syscall.EIO
	default:
		return nil
	}
}

// obstacle returns the effect of faults on a kind of request: whether it hangs, and its delay.
type obstacle func(Faults) (hangs bool, delay time.Duration)

func atRead(f Faults) (bool, time.Duration)  { return false, f.ReadDelay }
func atWrite(f Faults) (bool, time.Duration) { return false, f.WriteDelay }

// atFsync chooses the jitter once, so that evaluating the obstacle again doesn't change it.
func atFsync() obstacle {
	part := rand.Float64()
	return func(f Faults) (bool, time.Duration) {
		return f.HangFsync, f.FsyncDelay + time.Duration(part*float64(f.FsyncJitter))
	}
}

// pause delays a request until the obstacle lets it pass. It returns nil when the request may
// continue, EINTR when the caller is being killed, and EIO when the disk is closing while the
// request would have to wait. interrupted is closed when the caller receives any signal. As on a
// real disk, only SIGKILL interrupts a request: the Go runtime preempts its threads with signals,
// and bbolt does not expect EINTR from fdatasync.
func (d *Disk) pause(interrupted <-chan struct{}, caller uint32, in obstacle) error {
	var began time.Time
	var looks *time.Ticker
	for {
		d.mu.RLock()
		faults, changed, closing := d.faults, d.changed, d.closing
		d.mu.RUnlock()
		hangs, delay := in(faults)
		if closing && (hangs || delay > 0) {
			return syscall.EIO
		}
		if !hangs && delay <= 0 {
			return nil // nearly always: without a look at the clock
		}
		if began.IsZero() {
			began = time.Now()
			looks = time.NewTicker(killPoll)
			looks.Stop()
			defer looks.Stop()
			d.hanging.Add(1)
			defer d.hanging.Add(-1)
		}
		var over <-chan time.Time
		if !hangs {
			left := delay - time.Since(began)
			if left <= 0 {
				return nil
			}
			over = time.After(left)
		}
		select {
		case <-over:
		case <-changed:
		case <-looks.C:
			if beingKilled(caller) {
				return syscall.EINTR
			}
		case <-interrupted:
			if beingKilled(caller) {
				return syscall.EINTR
			}
			interrupted = nil // the kernel tells only of the first signal: look from now on
			looks.Reset(killPoll)
		}
	}
}

// beingKilled reports whether SIGKILL is pending for a thread or the thread is gone. The kernel
// reports a thread of another PID namespace as 0, which counts as gone: a request that any signal
// interrupts is better than a process that cannot be killed.
func beingKilled(thread uint32) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", thread))
	if err != nil {
		return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH)
	}
	const deadly = 1 << (uint(syscall.SIGKILL) - 1)
	for _, field := range []string{"\nSigPnd:", "\nShdPnd:"} {
		_, rest, found := bytes.Cut(status, []byte(field))
		if !found {
			continue
		}
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		if pending, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 16, 64); err == nil && pending&deadly != 0 {
			return true
		}
	}
	return false
}
