package membership

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log"
)

// perFile is the number of entries in a file of the log, which is trimmed by whole files.
const perFile = 100

// fileOf returns the first entry of the file that has an entry.
func fileOf(index uint64) uint64 { return (index-1)/perFile*perFile + 1 }

// filledLog returns a log of count entries that keeps as few as possible.
func filledLog(t *testing.T, count uint64) *log.Store {
	t.Helper()
	l, err := log.Open(log.Config{
		Dir: filepath.Join(t.TempDir(), "log"), Logger: slog.New(slog.DiscardHandler),
		MaxBytes: 1, SegmentBytes: 512 + perFile*log.Footprint(0),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	var entries []*raft.Log
	for i := range count {
		entries = append(entries, &raft.Log{Index: i + 1, AppendedAt: time.Now()})
	}
	if err := l.StoreLogs(entries); err != nil {
		t.Fatal(err)
	}
	return l
}

// trimmed trims a log as Raft does, and returns its first index.
func trimmed(t *testing.T, l *log.Store) uint64 {
	t.Helper()
	first, _ := l.FirstIndex()
	last, _ := l.LastIndex()
	if err := l.DeleteRange(first, last-TrailingLogs); err != nil {
		t.Fatal(err)
	}
	first, _ = l.FirstIndex()
	return first
}

func TestLogHoldsEntriesForJoiners(t *testing.T) {
	const last = 1000
	t.Run("from_where_they_are_until_they_have_caught_up", func(t *testing.T) {
		l := filledLog(t, last)
		j := NewJoiners(l)
		j.Installed("a", 100, time.Second)
		j.Installed("b", 200, time.Second)
		if first := trimmed(t, l); first != fileOf(100) {
			t.Errorf("the log begins with %d", first)
		}
		j.Stored("stranger", 500)
		j.Stored("a", 0) // a heartbeat
		j.Stored("a", 400)
		j.Stored("a", 300)
		if first := trimmed(t, l); first != fileOf(200) {
			t.Errorf("the log begins with %d", first)
		}
		j.Installed("b", 600, time.Second) // again
		if first := trimmed(t, l); first != fileOf(400) {
			t.Errorf("the log begins with %d", first)
		}
		j.Stored("a", last-TrailingLogs)
		if first := trimmed(t, l); first != fileOf(600) {
			t.Errorf("the log begins with %d", first)
		}
		j.Stored("b", last)
		if first := trimmed(t, l); first != fileOf(last-TrailingLogs) || j.some.Load() {
			t.Errorf("the log begins with %d, joiners remain: %v", first, j.some.Load())
		}
	})
	t.Run("as_long_as_they_go_on", func(t *testing.T) {
		l := filledLog(t, last)
		j := NewJoiners(l)
		j.Installed("quick", 100, time.Second)
		j.Installed("slow", 200, time.Hour)
		j.Expire(time.Now().Add(minJoinerTimeout / 2))
		if first := trimmed(t, l); first != fileOf(100) {
			t.Errorf("the log begins with %d", first)
		}
		j.Expire(time.Now().Add(minJoinerTimeout + time.Minute))
		if first := trimmed(t, l); first != fileOf(200) {
			t.Errorf("the log begins with %d", first)
		}
		j.Stored("slow", 300)
		j.Expire(time.Now().Add(time.Hour - time.Minute))
		if first := trimmed(t, l); first != fileOf(300) {
			t.Errorf("the log begins with %d", first)
		}
		j.Expire(time.Now().Add(time.Hour + time.Minute))
		if first := trimmed(t, l); first != fileOf(last-TrailingLogs) || j.some.Load() {
			t.Errorf("the log begins with %d, joiners remain: %v", first, j.some.Load())
		}
	})
}
