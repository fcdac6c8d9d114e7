package disk

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"quorate/chaos/capability"
)

// mounted returns a disk that is unmounted when the test ends.
func mounted(t testing.TB, options ...Option) *Disk {
	t.Helper()
	capability.Require(t, Available())
	root := t.TempDir()
	dir := filepath.Join(root, "mnt")
	must(t, os.Mkdir(dir, 0o755))
	return mountedAt(t, dir, filepath.Join(root, "backing"), options...)
}

func mountedAt(t testing.TB, dir, backing string, options ...Option) *Disk {
	t.Helper()
	d, err := Mount(dir, backing, slog.New(slog.DiscardHandler), options...)
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	return d
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// store writes a file anew, and syncs it if synced is set.
func store(t testing.TB, path, content string, synced bool) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	must(t, err)
	_, err = f.WriteString(content)
	must(t, err)
	if synced {
		must(t, f.Sync())
	}
	must(t, f.Close())
}

func syncDir(t testing.TB, path string) {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	must(t, errors.Join(f.Sync(), f.Close()))
}

func wantContent(t testing.TB, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	must(t, err)
	if string(got) != want {
		t.Errorf("%s holds %q, want %q", filepath.Base(path), got, want)
	}
}

func wantGone(t testing.TB, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is there (%v)", filepath.Base(path), err)
	}
}

func wantErrno(t testing.TB, what string, err error, want syscall.Errno) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func TestOrdinaryFiles(t *testing.T) {
	d := mounted(t)
	at := func(name string) string { return filepath.Join(d.Dir(), name) }
	store(t, at("a"), "hello", false)
	must(t, os.MkdirAll(at("sub/deep"), 0o750))
	must(t, os.Link(at("a"), at("sub/b")))
	must(t, os.Symlink("../a", at("sub/link")))
	must(t, os.Rename(at("sub/b"), at("sub/deep/c")))
	wantContent(t, at("sub/deep/c"), "hello")
	wantContent(t, at("sub/link"), "hello")
	must(t, os.Chmod(at("a"), 0o600))
	info, err := os.Stat(at("sub/deep/c"))
	must(t, err)
	if stat := info.Sys().(*syscall.Stat_t); info.Mode() != 0o600 || stat.Nlink != 2 || info.Size() != 5 {
		t.Errorf("mode %v, links %d, size %d", info.Mode(), stat.Nlink, info.Size())
	}
	then := time.Unix(1e9, 0)
	must(t, os.Chtimes(at("a"), then, then))
	if info, err := os.Stat(at("a")); err != nil || !info.ModTime().Equal(then) {
		t.Errorf("changed at %v (%v)", info.ModTime(), err)
	}
	wantErrno(t, "removing a directory with entries", os.Remove(at("sub")), syscall.ENOTEMPTY)
	wantErrno(t, "a directory into itself", os.Rename(at("sub"), at("sub/deep/x")), syscall.EINVAL)
	wantErrno(t, "over a directory", unix.Rename(at("a"), at("sub")), syscall.EISDIR)
	wantErrno(t, "not over", unix.Renameat2(unix.AT_FDCWD, at("a"), unix.AT_FDCWD, at("sub/link"), unix.RENAME_NOREPLACE), syscall.EEXIST)

	// A file without a name goes on until it is closed.
	f, err := os.OpenFile(at("a"), os.O_RDWR|os.O_APPEND, 0)
	must(t, err)
	must(t, errors.Join(os.Remove(at("a")), os.Remove(at("sub/deep/c"))))
	_, err = f.WriteString(" world")
	must(t, err)
	got := make([]byte, 20)
	if n, _ := f.ReadAt(got, 0); string(got[:n]) != "hello world" {
		t.Errorf("a file without a name holds %q", got[:n])
	}
	must(t, f.Close())
	names, err := os.ReadDir(at("sub"))
	must(t, err)
	if len(names) != 2 || names[0].Name() != "deep" || !names[0].IsDir() || names[1].Type() != os.ModeSymlink {
		t.Errorf("entries %v", names)
	}
	store(t, at("sub/deep/whole"), strings.Repeat("x", 3*pageBytes+1), false)
	must(t, os.CopyFS(at("copy"), os.DirFS(at("sub/deep")))) // by copy_file_range(2), where that works
	wantContent(t, at("copy/whole"), strings.Repeat("x", 3*pageBytes+1))
	must(t, errors.Join(os.RemoveAll(at("sub")), os.RemoveAll(at("copy"))))
	names, err = os.ReadDir(d.Dir())
	if err != nil || len(names) != 0 {
		t.Errorf("entries %v (%v)", names, err)
	}
}

func TestLocksAndSizes(t *testing.T) {
	d := mounted(t)
	path := filepath.Join(d.Dir(), "f")
	one, err := os.Create(path)
	must(t, err)
	defer one.Close()
	two, err := os.Open(path)
	must(t, err)
	defer two.Close()
	must(t, unix.Flock(int(one.Fd()), unix.LOCK_EX))
	wantErrno(t, "second lock", unix.Flock(int(two.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
	must(t, unix.Flock(int(one.Fd()), unix.LOCK_UN))
	must(t, unix.Flock(int(two.Fd()), unix.LOCK_EX|unix.LOCK_NB))

	_, err = one.Write(bytes.Repeat([]byte("x"), 3*pageBytes))
	must(t, err)
	must(t, unix.Fallocate(int(one.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, pageBytes, pageBytes))
	must(t, unix.Fallocate(int(one.Fd()), 0, 0, 5*pageBytes))
	must(t, one.Truncate(4*pageBytes+10))
	got, err := os.ReadFile(path)
	must(t, err)
	x, zeros := strings.Repeat("x", pageBytes), string(make([]byte, pageBytes))
	if want := x + zeros + x + zeros + zeros[:10]; string(got) != want {
		t.Errorf("read %d bytes, want %d", len(got), len(want))
	}
	wantErrno(t, "a mode that isn't there", unix.Fallocate(int(one.Fd()), unix.FALLOC_FL_COLLAPSE_RANGE, 0, pageBytes), unix.EOPNOTSUPP)
}
