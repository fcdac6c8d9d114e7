package log

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/raft"

	"quorate/raftstore/log/boltlog/boltlogtest"
	"quorate/raftstore/smalldisk"
)

// formerLog writes the log of a former build, with a vote of term 7, and returns its file.
func formerLog(t *testing.T, dir string, all []*raft.Log) string {
	t.Helper()
	path := filepath.Join(dir, "log.db")
	boltlogtest.Write(t, path, all, map[string]string{CurrentTerm: "\x00\x00\x00\x00\x00\x00\x00\x07", LastVoteTerm: "\x00\x00\x00\x00\x00\x00\x00\x07", LastVoteCand: "n2"})
	return path
}

func openFormer(t *testing.T, bolt string) *Store {
	t.Helper()
	return open(t, filepath.Join(filepath.Dir(bolt), "log"), func(c *Config) { c.BoltFile = bolt })
}

// The entries, the term and the vote of a former build's log are there after an upgrade.
func TestFormerLogIsCopied(t *testing.T) {
	all := append([]*raft.Log{{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: []byte("servers")}}, entries(2, 500, 1331)...)
	all = append(all, &raft.Log{Index: 502, Term: 9, Type: raft.LogCommand, Extensions: []byte("another's")})
	bolt := formerLog(t, t.TempDir(), all)
	s := openFormer(t, bolt)
	for _, want := range all {
		var got raft.Log
		if err := s.GetLog(want.Index, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*want, got); diff != "" {
			t.Fatalf("entry %d (-want +got):\n%s", want.Index, diff)
		}
	}
	wantSpan(t, s, 1, 502)
	wantVote(t, s, 7, "n2")
	if _, err := os.Stat(bolt); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the former file is still there: %v", err)
	}
	store(t, s, entries(503, 1, 10))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantSpan(t, openFormer(t, bolt), 1, 503)
}

// A crash at any moment of the copy leaves the former log, or the whole copy.
func TestCrashWhileCopying(t *testing.T) {
	bolt := formerLog(t, t.TempDir(), entries(1, 300, 1331))
	dir := filepath.Join(filepath.Dir(bolt), "log")
	if err := errors.Join(os.Mkdir(dir+newSuffix, 0o700), os.WriteFile(filepath.Join(dir+newSuffix, stableFile), []byte("a part"), 0o600)); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(bolt)
	if err != nil {
		t.Fatal(err)
	}
	s := openFormer(t, bolt)
	wantContent(t, s, 1, 300, 1331)
	store(t, s, entries(301, 1, 1331))
	if err := errors.Join(s.Close(), os.WriteFile(bolt, kept, 0o600)); err != nil { // not yet removed
		t.Fatal(err)
	}
	wantContent(t, openFormer(t, bolt), 1, 301, 1331)
	if _, err := os.Stat(bolt); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the former file is still there: %v", err)
	}
}

// Entries before a damaged one are left out; who needs them learns that they are missing.
func TestDamagedFormerLog(t *testing.T) {
	dir := t.TempDir()
	bolt := formerLog(t, dir, entries(1, 300, 1331))
	boltlogtest.Damage(t, bolt, string(content(100, 1331)))
	s := openFormer(t, bolt)
	wantContent(t, s, 101, 300, 1331)
	if err := s.Verify(t.Context(), 101); err != nil {
		t.Error(err)
	}
	wantCorrupt(t, s.Verify(t.Context(), 100), s.cfg.Dir, 100)
	wantVote(t, s, 7, "n2")

	bolt = formerLog(t, t.TempDir(), entries(1, 300, 1331))
	boltlogtest.Damage(t, bolt, "n2")
	_, err := Open(Config{Dir: filepath.Join(dir, "other"), BoltFile: bolt, Logger: quiet()})
	wantCorrupt(t, err, bolt, 0)
	if _, err := os.Stat(bolt); err != nil {
		t.Error(err)
	}
}

func TestCopyNeedsSpace(t *testing.T) {
	disk := smalldisk.New(t, 8<<20)
	bolt := formerLog(t, disk.Dir, entries(1, 300, 10_000))
	disk.Fill(1 << 20)
	dir := filepath.Join(disk.Dir, "log")
	if _, err := Open(Config{Dir: dir, BoltFile: bolt, SegmentBytes: segmentBytes, Logger: quiet()}); !OutOfSpace(err) {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir + newSuffix); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was copied is still there: %v", err)
	}
	disk.Clear()
	wantContent(t, openFormer(t, bolt), 1, 300, 10_000)
}

func TestReadOnlyLog(t *testing.T) {
	for _, former := range []bool{false, true} {
		dir := t.TempDir()
		cfg := Config{Dir: filepath.Join(dir, "log"), BoltFile: filepath.Join(dir, "log.db"), Logger: quiet()}
		if _, err := OpenReadOnly(cfg); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("no log: %v", err)
		}
		if former {
			formerLog(t, dir, entries(1, 300, 1331))
		} else {
			s := open(t, cfg.Dir)
			castVote(t, s, 7, "n2")
			fill(t, s, 1, 300, 1331)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		s, err := OpenReadOnly(cfg)
		if err != nil {
			t.Fatal(err)
		}
		wantContent(t, s, 1, 300, 1331)
		wantVote(t, s, 7, "n2")
		for what, err := range map[string]error{
			"append": s.StoreLogs(entries(301, 1, 10)), "set": s.SetUint64([]byte(CurrentTerm), 9), "remove": s.DeleteRange(1, 300),
		} {
			if err == nil {
				t.Errorf("%s succeeded", what)
			}
		}
		wantContent(t, s, 1, 300, 1331)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 1 || s.remove != "" && exists(s.remove) {
			t.Errorf("the folder has %v (%v)", left, err)
		}
	}
}
