package raftstore

import (
	"log/slog"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log"
)

// filledLog is a log of so many entries that keeps only what it must.
func filledLog(t *testing.T, count uint64) *log.Store {
	t.Helper()
	l, err := log.Open(log.Config{Path: filepath.Join(t.TempDir(), "log.db"), Logger: slog.New(slog.DiscardHandler), MaxBytes: 1})
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

// trimmed trims a log as Raft does, and returns where it begins then.
func trimmed(t *testing.T, l *log.Store) uint64 {
	t.Helper()
	first, _ := l.FirstIndex()
	last, _ := l.LastIndex()
	if err := l.DeleteRange(first, last-trailingLogs); err != nil {
		t.Fatal(err)
	}
	first, _ = l.FirstIndex()
	return first
}

func TestLogIsKeptForJoiners(t *testing.T) {
	const last = 1000
	t.Run("from_where_they_are_until_they_have_caught_up", func(t *testing.T) {
		l := filledLog(t, last)
		j := newJoiners(l)
		j.installed("a", 100, time.Second)
		j.installed("b", 200, time.Second)
		if first := trimmed(t, l); first != 100 {
			t.Errorf("the log begins with %d", first)
		}
		j.stored("stranger", 500)
		j.stored("a", 0) // a heartbeat
		j.stored("a", 400)
		j.stored("a", 300)
		if first := trimmed(t, l); first != 200 {
			t.Errorf("the log begins with %d", first)
		}
		j.installed("b", 600, time.Second) // again
		if first := trimmed(t, l); first != 400 {
			t.Errorf("the log begins with %d", first)
		}
		j.stored("a", last-trailingLogs)
		if first := trimmed(t, l); first != 600 {
			t.Errorf("the log begins with %d", first)
		}
		j.stored("b", last)
		if first := trimmed(t, l); first != last-trailingLogs || j.some.Load() {
			t.Errorf("the log begins with %d, with somebody to catch up %v", first, j.some.Load())
		}
	})
	t.Run("as_long_as_they_go_on", func(t *testing.T) {
		l := filledLog(t, last)
		j := newJoiners(l)
		j.installed("quick", 100, time.Second)
		j.installed("slow", 200, time.Hour)
		j.expire(time.Now().Add(joinerPatience / 2))
		if first := trimmed(t, l); first != 100 {
			t.Errorf("the log begins with %d", first)
		}
		j.expire(time.Now().Add(joinerPatience + time.Minute))
		if first := trimmed(t, l); first != 200 {
			t.Errorf("the log begins with %d", first)
		}
		j.stored("slow", 300)
		j.expire(time.Now().Add(time.Hour - time.Minute))
		if first := trimmed(t, l); first != 300 {
			t.Errorf("the log begins with %d", first)
		}
		j.expire(time.Now().Add(time.Hour + time.Minute))
		if first := trimmed(t, l); first != last-trailingLogs || j.some.Load() {
			t.Errorf("the log begins with %d, with somebody to catch up %v", first, j.some.Load())
		}
	})
}

// TestNothingIsKeptForJoinersOnAFullDisk: the last snapshot that still has space must be able to trim the log.
func TestNothingIsKeptForJoinersOnAFullDisk(t *testing.T) {
	const snapshotBytes, reserve = 100, 1000
	for _, c := range []struct {
		free      int64
		room      room
		snapshots int64 // for how many there is room
	}{
		{math.MaxInt64, enoughRoom, 2}, {2 * (snapshotBytes + reserve), enoughRoom, 2}, {2*(snapshotBytes+reserve) - 2, enoughRoom, 1},
		{snapshotBytes + reserve, enoughRoom, 1}, {snapshotBytes + reserve - 1, enoughRoom, 0}, {math.MaxInt64, littleRoom, 0},
	} {
		p := space{room: c.room, free: c.free, need: reserve}
		for times := int64(1); times <= heldRoom; times++ {
			if p.hasFor(times, snapshotBytes) != (times <= c.snapshots) {
				t.Errorf("%+v: room for %d snapshots is %v", p, times, times > c.snapshots)
			}
		}
	}
}
