package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// changes is one of each kind of change, on the names f and old, which exist.
func changes(at func(string) string) map[string]func() error {
	withFile := func(do func(f *os.File) error) func() error {
		return func() error {
			f, err := os.OpenFile(at("f"), os.O_RDWR, 0)
			if err != nil {
				return err
			}
			return errors.Join(do(f), f.Close())
		}
	}
	return map[string]func() error{
		"write":    withFile(func(f *os.File) error { _, err := f.WriteAt([]byte("x"), 1<<20); return err }),
		"truncate": withFile(func(f *os.File) error { return f.Truncate(1) }),
		"allocate": withFile(func(f *os.File) error { return unix.Fallocate(int(f.Fd()), 0, 0, 1<<20) }),
		"create":   func() error { return os.WriteFile(at("new"), nil, 0o644) },
		"mkdir":    func() error { return os.Mkdir(at("sub"), 0o755) },
		"symlink":  func() error { return os.Symlink("f", at("symlink")) },
		"link":     func() error { return os.Link(at("f"), at("link")) },
		"rename":   func() error { return os.Rename(at("f"), at("renamed")) },
		"remove":   func() error { return os.Remove(at("old")) },
		"chmod":    func() error { return os.Chmod(at("f"), 0o600) },
	}
}

func TestChangesRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults Faults
		want   syscall.Errno
	}{
		{"EIO", Faults{FailWrites: true}, syscall.EIO},
		{"EROFS", Faults{ReadOnly: true}, syscall.EROFS},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := mounted(t)
			at := func(name string) string { return filepath.Join(d.Dir(), name) }
			store(t, at("f"), "f", true)
			store(t, at("old"), "old", true)
			d.Set(c.faults)
			for name, do := range changes(at) {
				wantErrno(t, name, do(), c.want)
			}
			wantContent(t, at("f"), "f") // reads go on
			if refused := d.Stats().Refused; refused < 10 {
				t.Errorf("%d refused", refused)
			}
			d.Set(Faults{})
			for _, name := range []string{"write", "truncate", "allocate", "create", "mkdir", "symlink", "link", "chmod", "remove", "rename"} {
				if err := changes(at)[name](); err != nil {
					t.Errorf("%s on a disk that has healed: %v", name, err)
				}
			}
		})
	}
}

func TestReadOnlySync(t *testing.T) {
	d := mounted(t)
	f, err := os.Create(filepath.Join(d.Dir(), "f"))
	must(t, err)
	defer f.Close()
	_, err = f.WriteString("x")
	must(t, err)
	d.Set(Faults{ReadOnly: true})
	wantErrno(t, "fsync", f.Sync(), syscall.EROFS)
	_, err = f.WriteString("y")
	wantErrno(t, "write to a file that was open", err, syscall.EROFS)
	d.Set(Faults{})
	must(t, f.Sync())
}

// TestFailedWriteIsNotSeen checks that the kernel discards cached data of a failed write.
func TestFailedWriteIsNotSeen(t *testing.T) {
	d := mounted(t)
	path := filepath.Join(d.Dir(), "f")
	store(t, path, string(make([]byte, 2*pageBytes)), true)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	wantContent(t, path, string(make([]byte, 2*pageBytes))) // and so the kernel has the pages
	for _, off := range []int64{0, 100, pageBytes - 1} {
		for _, length := range []int{1, 3, pageBytes} {
			d.Set(Faults{FailWrites: true})
			data := make([]byte, length)
			for i := range data {
				data[i] = 'x'
			}
			_, err = f.WriteAt(data, off)
			wantErrno(t, "write", err, syscall.EIO)
			d.Set(Faults{})
			eventually(t, "the kernel reads what is there", func() bool {
				got, err := os.ReadFile(path)
				must(t, err)
				return string(got) == string(make([]byte, 2*pageBytes))
			})
		}
	}
}

func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30 s: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestFullDisk(t *testing.T) {
	d := mounted(t)
	at := func(name string) string { return filepath.Join(d.Dir(), name) }
	free := func() int64 {
		t.Helper()
		var s unix.Statfs_t
		must(t, unix.Statfs(d.Dir(), &s))
		if s.Bavail != s.Bfree || s.Bfree > s.Blocks {
			t.Errorf("%d of %d blocks are free, %d of them for us", s.Bfree, s.Blocks, s.Bavail)
		}
		return int64(s.Bavail) * s.Bsize
	}
	const page = pageBytes
	store(t, at("f"), string(make([]byte, 10*page)), true)
	d.Set(Faults{Free: new(int64(5 * page))})
	if got := free(); got != 5*page {
		t.Fatalf("%d bytes are free", got)
	}
	f, err := os.OpenFile(at("f"), os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	_, err = f.WriteAt(make([]byte, 10*page), 0)
	must(t, err) // nothing new
	n, err := unix.Pwrite(int(f.Fd()), make([]byte, 8*page), 10*page)
	if n != 5*page || err != nil || free() != 0 {
		t.Errorf("%d bytes written (%v), %d are free", n, err, free())
	}
	_, err = f.WriteAt(make([]byte, 1), 15*page)
	wantErrno(t, "more than there is room for", err, syscall.ENOSPC)
	if info, err := f.Stat(); err != nil || info.Size() != 15*page {
		t.Errorf("size %d (%v)", info.Size(), err)
	}
	wantErrno(t, "another file", os.WriteFile(at("g"), []byte("x"), 0o644), syscall.ENOSPC)
	wantErrno(t, "reserve", unix.Fallocate(int(f.Fd()), 0, 0, 20*page), syscall.ENOSPC)
	must(t, f.Sync())
	must(t, f.Truncate(1<<30)) // a hole takes nothing
	must(t, f.Truncate(12*page))
	if got := free(); got != 3*page {
		t.Errorf("%d bytes are free after 3 pages were cut off", got)
	}
	must(t, unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, page/2, 2*page))
	if got := free(); got != 4*page {
		t.Errorf("%d bytes are free after one page was punched out", got)
	}
	must(t, os.Remove(at("f")))
	if got := free(); got != 4*page {
		t.Errorf("%d bytes are free while a removed file is open", got)
	}
	must(t, f.Close())
	eventually(t, "the space of a removed file is free", func() bool { return free() == 15*page })
	d.Set(Faults{})
	if got := free(); got < 100*page {
		t.Errorf("%d bytes are free on a disk that has healed", got)
	}
	must(t, os.WriteFile(at("g"), make([]byte, 100*page), 0o644))
}

func TestSlowDisk(t *testing.T) {
	d := mounted(t)
	path := filepath.Join(d.Dir(), "f")
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	const delay = 60 * time.Millisecond
	took := func(what string, faults Faults, do func() error) {
		t.Helper()
		d.Set(faults)
		start := time.Now()
		must(t, do())
		if took := time.Since(start); took < delay {
			t.Errorf("%s took %v", what, took)
		}
		d.Set(Faults{})
	}
	took("write", Faults{WriteDelay: delay}, func() error { _, err := f.Write([]byte("x")); return err })
	took("fsync", Faults{FsyncDelay: delay, FsyncJitter: delay}, f.Sync)
	took("fsync of a directory", Faults{FsyncDelay: delay}, func() error {
		dir, err := os.Open(d.Dir())
		return errors.Join(err, dir.Sync(), dir.Close())
	})
	must(t, f.Close())
	must(t, d.Crash()) // and so nothing is in the page cache
	took("read", Faults{ReadDelay: delay}, func() error {
		f, err := os.Open(path)
		must(t, err)
		_, err = io.ReadAll(f)
		return errors.Join(err, f.Close())
	})
}

// TestHungFsyncHeals checks that an fsync that hangs continues when the disk is healed or gets
// another fault.
func TestHungFsyncHeals(t *testing.T) {
	d := mounted(t)
	path := filepath.Join(d.Dir(), "f")
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	for _, after := range []Faults{{}, {FsyncDelay: time.Millisecond}, {FailFsync: true}} {
		d.Set(Faults{HangFsync: true})
		done := make(chan error, 1)
		go func() { done <- f.Sync() }() // waited for below
		eventually(t, "the fsync hangs", func() bool { return d.Stats().Hanging == 1 })
		store(t, filepath.Join(d.Dir(), "g"), "others go on", false)
		d.Set(after)
		err := <-done
		if after.FailFsync {
			wantErrno(t, "fsync", err, syscall.EIO)
		} else if err != nil {
			t.Error(err)
		}
		if hanging := d.Stats().Hanging; hanging != 0 {
			t.Errorf("%d hang", hanging)
		}
	}
}

// TestCloseWhileInUse checks that Close ends hanging requests and does not wait for open files.
func TestCloseWhileInUse(t *testing.T) {
	d := mounted(t)
	f, err := os.Create(filepath.Join(d.Dir(), "f"))
	must(t, err)
	d.Set(Faults{HangFsync: true})
	done := make(chan error, 1)
	go func() { done <- f.Sync() }() // waited for below
	eventually(t, "the fsync hangs", func() bool { return d.Stats().Hanging == 1 })
	must(t, d.Close())
	if err := <-done; err == nil {
		t.Error("an fsync succeeded on a disk that was taken away")
	}
	if _, err := f.Write([]byte("x")); err == nil {
		t.Error("a write succeeded on a disk that was taken away")
	}
	f.Close() // there is nothing left that could fail
	if err := d.Crash(); err == nil {
		t.Error("the power of a closed disk was cut")
	}
	must(t, d.Close())
}
