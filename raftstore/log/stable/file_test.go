package stable

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quorate/raftstore/log/diskio"
	"quorate/raftstore/smalldisk"
)

func create(t testing.TB, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "stable")
	if err := Create(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t testing.TB, path string) *File {
	t.Helper()
	s, err := Open(path, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // some tests close it before
	return s
}

func set(t testing.TB, s *File, values map[string][]byte) {
	t.Helper()
	if err := s.Set(values); err != nil {
		t.Fatal(err)
	}
}

func want(t testing.TB, s *File, key, value string) {
	t.Helper()
	if got := s.Get(key); string(got) != value {
		t.Errorf("%s is %q, want %q", key, got, value)
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	path := create(t, t.TempDir())
	s := open(t, path)
	if s.Get("term") != nil {
		t.Error("a new file has a value")
	}
	set(t, s, map[string][]byte{"term": []byte("1"), "vote": []byte("n1"), "empty": nil})
	set(t, s, map[string][]byte{"term": []byte("2")})
	if err := s.Set(map[string][]byte{"large": make([]byte, copyBytes)}); err == nil {
		t.Error("stored more than fits")
	}
	for range 2 {
		want(t, s, "term", "2")
		want(t, s, "vote", "n1")
		if s.Get("empty") == nil || s.Get("large") != nil || len(s.All()) != 3 {
			t.Errorf("the values are %q", s.All())
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, path)
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	path := create(t, t.TempDir())
	s := open(t, path)
	for _, readOnly := range []bool{false, true} {
		if _, err := Open(path, readOnly, 50*time.Millisecond); !errors.Is(err, ErrLocked) {
			t.Errorf("opened a second time: %v", err)
		}
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = s.Close() })
	second, err := Open(path, true, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	third, err := Open(path, true, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(second.Close(), third.Close()); err != nil {
		t.Fatal(err)
	}
}

// states returns the content of a file before and after a change.
func states(t *testing.T) (before, after []byte) {
	t.Helper()
	path := create(t, t.TempDir())
	s := open(t, path)
	content := func() []byte {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	set(t, s, map[string][]byte{"term": []byte("41"), "vote": []byte("n1")})
	before = content()
	set(t, s, map[string][]byte{"term": []byte("42"), "vote": bytes.Repeat([]byte("n2"), 500)})
	return before, content()
}

// A crash at any moment of a change leaves all old values or all new ones.
func TestCrashInChange(t *testing.T) {
	t.Parallel()
	before, after := states(t)
	path := filepath.Join(t.TempDir(), "stable")
	for written := 0; written <= copies*copyBytes; written += 7 {
		content := append(after[:written:written], before[written:]...)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, path)
		term, vote := string(s.Get("term")), string(s.Get("vote"))
		if (term != "41" || vote != "n1") && (term != "42" || len(vote) != 1000) {
			t.Fatalf("after %d bytes: term %s, vote %.10s", written, term, vote)
		}
		if written >= copyBytes && term != "42" {
			t.Fatalf("after %d bytes, the first copy whole: term %s", written, term)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// No damage to one copy makes the file forget a change, and damage to both is noticed.
func TestDamage(t *testing.T) {
	t.Parallel()
	_, whole := states(t)
	path := filepath.Join(t.TempDir(), "stable")
	reopen := func(content []byte) (*File, error) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return Open(path, true, 0)
	}
	for i := range headerBytes + 1040 {
		for _, at := range []int{i, copyBytes + i} {
			damaged := bytes.Clone(whole)
			damaged[at] ^= 1 << (i % 8)
			s, err := reopen(damaged)
			if err != nil {
				t.Fatalf("byte %d: %v", at, err)
			}
			want(t, s, "term", "42")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	damaged := bytes.Clone(whole)
	damaged[20]++
	damaged[copyBytes+20]++
	if _, err := reopen(damaged); !errors.Is(err, ErrDamaged) {
		t.Errorf("both copies damaged: %v", err)
	}
	for _, size := range []int{0, 100, copyBytes, copies*copyBytes - 1} {
		if _, err := reopen(whole[:size]); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut to %d bytes: %v", size, err)
		}
	}
}

func TestSyncFails(t *testing.T) {
	t.Parallel()
	for _, fails := range []int{1, 2} {
		t.Run(fmt.Sprint("sync ", fails), func(t *testing.T) {
			s := open(t, create(t, t.TempDir()))
			set(t, s, map[string][]byte{"term": []byte("1")})
			failure, calls := errors.New("input/output error"), 0
			s.datasync = func(f *os.File) error {
				if calls++; calls == fails {
					return failure
				}
				return diskio.Datasync(f)
			}
			if err := s.Set(map[string][]byte{"term": []byte("2")}); !errors.Is(err, ErrInDoubt) || !errors.Is(err, failure) {
				t.Error(err)
			}
			if err := s.Set(map[string][]byte{"term": []byte("3")}); !errors.Is(err, ErrInDoubt) {
				t.Error(err)
			}
			want(t, s, "term", "1")
		})
	}
}

// A change needs no free space, so a node on a full disk can still store a term and a vote.
func TestFullDisk(t *testing.T) {
	disk := smalldisk.New(t, 1<<20)
	s := open(t, create(t, disk.Dir))
	disk.Fill(0)
	set(t, s, map[string][]byte{"term": []byte("7"), "vote": bytes.Repeat([]byte("n"), 1000)})
	want(t, s, "term", "7")
	disk.Clear()
}
