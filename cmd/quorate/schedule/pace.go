package schedule

import (
	"context"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/time/rate"
)

// syncBytes is how much of a file is written between two syncs, so that no sync of a large file
// delays those of the log on the same disk, and how much a burst may exceed the rate.
const syncBytes = 4 << 20

// pacer bounds the bytes of a second that pass it.
type pacer struct{ limiter *rate.Limiter }

func newPacer(bytesPerSecond int64) *pacer {
	limit := rate.Inf
	if bytesPerSecond > 0 {
		limit = rate.Limit(bytesPerSecond)
	}
	return &pacer{rate.NewLimiter(limit, syncBytes)}
}

// wait waits until n bytes may pass. It returns an error once ctx ends.
func (p *pacer) wait(ctx context.Context, n int) error {
	for ; n > syncBytes; n -= syncBytes {
		if err := p.limiter.WaitN(ctx, syncBytes); err != nil {
			return err
		}
	}
	return p.limiter.WaitN(ctx, n)
}

// pacedFile writes to a file at a bounded rate, syncs it every syncBytes, and leaves needed bytes
// of its disk free.
type pacedFile struct {
	ctx    context.Context
	file   *os.File
	pacer  *pacer
	needed func() (int64, error)

	written, synced int64
}

// Write implements io.Writer.
func (f *pacedFile) Write(p []byte) (int, error) {
	if err := f.pacer.wait(f.ctx, len(p)); err != nil {
		return 0, err
	}
	if f.written == f.synced {
		if err := f.checkSpace(); err != nil {
			return 0, err
		}
	}
	n, err := f.file.Write(p)
	f.written += int64(n)
	if err == nil && f.written-f.synced >= syncBytes {
		err = f.sync()
	}
	return n, err
}

func (f *pacedFile) sync() error {
	f.synced = f.written
	return f.file.Sync()
}

// checkSpace returns an error that wraps ENOSPC if the next syncBytes would take space that the
// data directory needs.
func (f *pacedFile) checkSpace() error {
	needed, err := f.needed()
	if err != nil || needed == 0 {
		return err
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(f.file.Name(), &disk); err != nil {
		return err
	}
	free := int64(disk.Bavail) * disk.Bsize
	if free-syncBytes < needed {
		return fmt.Errorf("%w: %d MiB are free, and the data directory on the same disk needs %d MiB", syscall.ENOSPC, free>>20, needed>>20)
	}
	return nil
}

// rewound returns a reader of what was written, from the disk where the system allows that, at the
// same rate.
func (f *pacedFile) rewound() (io.Reader, error) {
	if err := f.sync(); err != nil {
		return nil, err
	}
	if err := unix.Fadvise(int(f.file.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return nil, fmt.Errorf("drop the file from the page cache: %w", err)
	}
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return &pacedReader{f.ctx, f.file, f.pacer}, nil
}

// pacedReader reads at a bounded rate until ctx ends.
type pacedReader struct {
	ctx   context.Context
	from  io.Reader
	pacer *pacer
}

// Read implements io.Reader.
func (r *pacedReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if waited := r.pacer.wait(r.ctx, n); waited != nil {
		return 0, waited
	}
	return n, err
}
