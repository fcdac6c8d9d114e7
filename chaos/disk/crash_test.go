package disk

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestCrashContents(t *testing.T) {
	d := mounted(t)
	at := func(name string) string { return filepath.Join(d.Dir(), name) }
	page := func(c string) string { return strings.Repeat(c, pageBytes) }
	store(t, at("f"), page("a")+page("b")+"tail", true)
	store(t, at("cut"), page("a")+page("b"), true)
	store(t, at("longer"), "short", true)
	store(t, at("punched"), page("a")+page("b"), true)
	store(t, at("shrunk and synced"), page("a")+page("b"), true)
	edit := func(name string, do func(f *os.File) error) {
		t.Helper()
		f, err := os.OpenFile(at(name), os.O_RDWR, 0)
		must(t, errors.Join(err, do(f), f.Close()))
	}
	edit("f", func(f *os.File) error {
		_, first := f.WriteAt([]byte("XX"), 10)
		_, synced := f.WriteAt([]byte("YY"), pageBytes+10)
		_, last := f.WriteAt([]byte("ZZ"), 3*pageBytes)
		return errors.Join(first, synced, last)
	})
	edit("cut", func(f *os.File) error { return errors.Join(f.Truncate(10), f.Truncate(100)) })
	edit("longer", func(f *os.File) error { return f.Truncate(1 << 20) })
	edit("punched", func(f *os.File) error {
		return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, pageBytes)
	})
	edit("shrunk and synced", func(f *os.File) error {
		_, err := f.WriteAt([]byte("lost with the end"), pageBytes)
		_, beyond := f.WriteAt([]byte("kept"), 0)
		return errors.Join(err, beyond, f.Truncate(10), f.Sync(), f.Truncate(20))
	})
	before, err := os.ReadFile(at("f"))
	must(t, err)
	if len(before) != 3*pageBytes+2 {
		t.Fatalf("%d bytes before the crash", len(before))
	}
	must(t, d.Crash())
	wantContent(t, at("f"), page("a")+page("b")+"tail")
	wantContent(t, at("cut"), page("a")+page("b"))
	wantContent(t, at("longer"), "short")
	wantContent(t, at("punched"), page("a")+page("b"))
	wantContent(t, at("shrunk and synced"), "keptaaaaaa")
	if s := d.Stats(); s.Crashes != 1 || s.LostFiles != 5 || s.LostBytes == 0 {
		t.Errorf("%+v", s)
	}
}

// TestCrashNames checks which changes of names an fsync makes durable.
func TestCrashNames(t *testing.T) {
	type names = map[string]string // contents by path; "-" is gone
	cases := []struct {
		name          string
		do            func(t *testing.T, at func(string) string)
		ordered, real names // real is what a strict disk leaves
	}{
		{"a new file synced", func(t *testing.T, at func(string) string) {
			store(t, at("f"), "new", true)
		}, names{"f": "new"}, names{"f": "-"}},
		{"a new file and its directory synced", func(t *testing.T, at func(string) string) {
			store(t, at("f"), "new", true)
			syncDir(t, at("."))
		}, names{"f": "new"}, names{"f": "new"}},
		{"only the directory synced", func(t *testing.T, at func(string) string) {
			store(t, at("f"), "new", false)
			syncDir(t, at("."))
		}, names{"f": ""}, names{"f": ""}},
		{"nothing synced", func(t *testing.T, at func(string) string) {
			store(t, at("f"), "new", false)
			must(t, os.Remove(at("old")))
			must(t, os.Mkdir(at("sub"), 0o755))
		}, names{"f": "-", "old": "old", "sub": "-"}, names{"f": "-", "old": "old", "sub": "-"}},
		{"replaced without a sync of the directory", func(t *testing.T, at func(string) string) {
			store(t, at("f"), "new", true)
			must(t, os.Rename(at("f"), at("old")))
		}, names{"old": "old", "f": "new"}, names{"old": "old", "f": "-"}},
		{"replaced", func(t *testing.T, at func(string) string) {
			store(t, at("f"), "new", true)
			must(t, os.Rename(at("f"), at("old")))
			syncDir(t, at("."))
		}, names{"old": "new", "f": "-"}, names{"old": "new", "f": "-"}},
		{"replaced by what was not synced", func(t *testing.T, at func(string) string) {
			store(t, at("f"), "new", false)
			must(t, os.Rename(at("f"), at("old")))
			syncDir(t, at("."))
		}, names{"old": "", "f": "-"}, names{"old": "", "f": "-"}},
		{"an earlier change elsewhere", func(t *testing.T, at func(string) string) {
			must(t, os.Remove(at("old")))
			store(t, at("f"), "new", true)
		}, names{"old": "-", "f": "new"}, names{"old": "old", "f": "-"}},
		{"a later change elsewhere", func(t *testing.T, at func(string) string) {
			store(t, at("f"), "new", true)
			must(t, os.Remove(at("old")))
			store(t, at("f"), "newer", true) // changes no name
		}, names{"old": "old", "f": "newer"}, names{"old": "old", "f": "-"}},
		{"a file in a new directory", func(t *testing.T, at func(string) string) {
			must(t, os.Mkdir(at("sub"), 0o755))
			store(t, at("sub/f"), "new", true)
			syncDir(t, at("sub"))
		}, names{"sub/f": "new"}, names{"sub": "-"}},
		{"a file in a new directory, all synced", func(t *testing.T, at func(string) string) {
			must(t, os.Mkdir(at("sub"), 0o755))
			store(t, at("sub/f"), "new", true)
			syncDir(t, at("sub"))
			syncDir(t, at("."))
		}, names{"sub/f": "new"}, names{"sub/f": "new"}},
		{"a second name", func(t *testing.T, at func(string) string) {
			must(t, os.Link(at("old"), at("aside")))
			must(t, os.Remove(at("old")))
			syncDir(t, at("."))
			store(t, at("aside"), "changed", false)
		}, names{"old": "-", "aside": "old"}, names{"old": "-", "aside": "old"}},
		{"moved to another directory, only that one synced", func(t *testing.T, at func(string) string) {
			must(t, os.Mkdir(at("sub"), 0o755))
			syncDir(t, at("."))
			must(t, os.Rename(at("old"), at("sub/old")))
			syncDir(t, at("sub"))
		}, names{"sub/old": "old", "old": "-"}, names{"sub/old": "old", "old": "old"}},
		{"moved to another directory, only the former synced", func(t *testing.T, at func(string) string) {
			must(t, os.Mkdir(at("sub"), 0o755))
			syncDir(t, at("."))
			must(t, os.Rename(at("old"), at("sub/old")))
			syncDir(t, at("."))
		}, names{"sub/old": "old", "old": "-"}, names{"sub/old": "-", "old": "-"}},
	}
	for _, mode := range []struct {
		name    string
		options []Option
	}{{"ordered", nil}, {"strict", []Option{Strict}}} {
		for _, c := range cases {
			t.Run(mode.name+"/"+c.name, func(t *testing.T) {
				d := mounted(t, mode.options...)
				at := func(name string) string { return filepath.Join(d.Dir(), name) }
				store(t, at("old"), "old", true)
				syncDir(t, d.Dir())
				c.do(t, at)
				must(t, d.Crash())
				want := c.ordered
				if len(mode.options) > 0 {
					want = c.real
				}
				for name, content := range want {
					if content == "-" {
						wantGone(t, at(name))
					} else {
						wantContent(t, at(name), content)
					}
				}
				must(t, d.Crash()) // another changes nothing
				for name, content := range want {
					if content != "-" {
						wantContent(t, at(name), content)
					}
				}
			})
		}
	}
}

func TestCrashAttributes(t *testing.T) {
	d := mounted(t)
	path := filepath.Join(d.Dir(), "f")
	store(t, path, "x", true)
	must(t, os.Chmod(path, 0o600))
	must(t, d.Crash())
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o644 {
		t.Errorf("%v (%v)", info, err)
	}
	must(t, os.Chmod(path, 0o600))
	store(t, path, "x", true)
	must(t, d.Crash())
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v (%v)", info, err)
	}
}

// TestFailedFsync checks that an fsync which succeeds does not make the pages durable that a failed
// one has discarded.
func TestFailedFsync(t *testing.T) {
	d := mounted(t)
	path := filepath.Join(d.Dir(), "f")
	store(t, path, strings.Repeat("a", 3*pageBytes), true)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	write := func(off int64, text string) {
		t.Helper()
		_, err := f.WriteAt([]byte(text), off)
		must(t, err)
	}
	write(0, "given up")
	write(pageBytes, "given up")
	write(3*pageBytes, "given up")
	d.Set(Faults{FailFsync: true})
	wantErrno(t, "fsync", f.Sync(), syscall.EIO)
	wantErrno(t, "fdatasync", unix.Fdatasync(int(f.Fd())), syscall.EIO)
	d.Set(Faults{})
	write(pageBytes+100, "again")
	must(t, f.Sync())
	must(t, f.Close())
	must(t, d.Crash())
	got, err := os.ReadFile(path)
	must(t, err)
	want := []byte(strings.Repeat("a", 3*pageBytes) + strings.Repeat("\x00", len("given up")))
	copy(want[pageBytes:], "given up")
	copy(want[pageBytes+100:], "again")
	if string(got) != string(want) {
		t.Errorf("%q, %q, %q", got[:10], got[pageBytes:pageBytes+10], got[3*pageBytes:])
	}
}

func TestCrashRefusedWhileInUse(t *testing.T) {
	d := mounted(t)
	path := filepath.Join(d.Dir(), "f")
	store(t, path, "unsynced", false)
	f, err := os.Open(path)
	must(t, err)
	d.wait = 50 * time.Millisecond // somebody who stays needs no more
	if err := d.Crash(); err == nil || !strings.Contains(err.Error(), "1 files or directories are open") {
		t.Errorf("crash: %v", err)
	}
	wantContent(t, path, "unsynced")
	must(t, f.Close())
	d.wait = releaseWait
	must(t, d.Crash())
	wantGone(t, path)
}

// TestTear checks that a part of the latest write survives, and never the whole write.
func TestTear(t *testing.T) {
	d := mounted(t)
	path := filepath.Join(d.Dir(), "f")
	const sectors = 20
	old, fresh := strings.Repeat("o", sectors*sectorBytes), strings.Repeat("n", sectors*sectorBytes)
	seen := map[string]bool{}
	for seed := range uint64(40) {
		store(t, path, "header"+old, true)
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		must(t, err)
		_, err = f.WriteAt([]byte(fresh), sectorBytes)
		must(t, errors.Join(err, f.Close()))
		must(t, d.Tear(rand.New(rand.NewPCG(seed, 0))))
		got, err := os.ReadFile(path)
		must(t, err)
		if !strings.HasPrefix(string(got), "header"+old[:sectorBytes-6]) {
			t.Fatalf("seed %d: the beginning is %.20q", seed, got)
		}
		pattern := ""
		for i := range sectors {
			off := (1 + i) * sectorBytes
			sector := string(got[min(off, len(got)):min(off+sectorBytes, len(got))])
			switch {
			case sector == fresh[:sectorBytes]:
				pattern += "n"
			case strings.Trim(sector, "o") == "":
				pattern += "o"
			default:
				t.Fatalf("seed %d: sector %d is of neither: %.20q", seed, i, sector)
			}
		}
		if !strings.Contains(pattern, "n") || !strings.Contains(pattern, "o") {
			t.Fatalf("seed %d: %s is not torn", seed, pattern)
		}
		seen[pattern] = true
	}
	if len(seen) < 10 {
		t.Errorf("only %d different outcomes", len(seen))
	}
}
