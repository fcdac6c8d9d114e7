package diskguard

import (
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore/log"
	"quorate/raftstore/smalldisk"
)

// Free space slightly above the reserve neither raises the alarm nor clears it, so that the alarm
// does not change with every write.
func TestSpaceAlarmClearsAboveTheReserve(t *testing.T) {
	const size, reserve = 32 << 20, 4 << 20
	const above = reserve + reserve/(2*hysteresisShare)
	disk := smalldisk.New(t, size)
	quiet := slog.New(slog.DiscardHandler)
	l, err := log.Open(log.Config{Dir: t.TempDir() + "/log", Logger: quiet}) // not on the disk under test
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nothing is written to it
	alarms := NewAlarms(quiet, prometheus.NewRegistry())
	var claimed, next, written atomic.Int64
	s := NewSpace(SpaceConfig{Node: "n0", Dir: disk.Dir, Reserve: reserve, Claim: claimed.Load, Next: next.Load, Written: written.Load, Alarms: alarms, Logger: quiet})
	check := func(when string, want level, raised bool) {
		t.Helper()
		m := s.measure(l)
		s.update(m)
		if m.level != want || alarms.IsRaised(NoSpace) != raised {
			t.Errorf("%s: with %d KiB free and a reserve of %d KiB the level is %d, want %d; alarm raised %t, want %t",
				when, m.free>>10, m.need>>10, m.level, want, alarms.IsRaised(NoSpace), raised)
		}
		if raised && alarms.List()[0].Message != m.message(disk.Dir) {
			t.Errorf("%s: the alarm says %q, and the disk is such: %q", when, alarms.List()[0].Message, m.message(disk.Dir))
		}
	}
	disk.Fill(above)
	check("just above the reserve, no alarm", sufficient, false)
	disk.Fill(reserve - reserve/8)
	check("below the reserve", low, true)
	disk.Fill(reserve - 5*reserve/16) // the alarm has the figure of now
	check("further below the reserve", low, true)
	disk.Clear()
	disk.Fill(above)
	check("just above the reserve, alarm raised", low, true)
	disk.Clear()
	check("far above the reserve, alarm raised", sufficient, false)
	claimed.Store(disk.Free())
	check("claimed by others", low, true)
	if reason := s.measure(l).message(disk.Dir); !strings.Contains(reason, "audit log may still take") {
		t.Errorf("the reason says nothing of the claim: %s", reason)
	}
	claimed.Store(0)
	check("not claimed any longer", sufficient, false)
}

// A snapshot from another node leaves as much of the reserve as one of this node; space that is only
// claimed is there for it.
func TestSpaceForASnapshotOfTheLeader(t *testing.T) {
	const size, reserve = 32 << 20, 4 << 20
	disk := smalldisk.New(t, size)
	quiet := slog.New(slog.DiscardHandler)
	zero := func() int64 { return 0 }
	s := NewSpace(SpaceConfig{
		Node: "n0", Dir: disk.Dir, Reserve: reserve, Claim: func() int64 { return size }, Next: zero, Written: zero,
		Alarms: NewAlarms(quiet, prometheus.NewRegistry()), Logger: quiet,
	})
	most := disk.Free() - reserve/snapshotShare
	if err := s.Fits(most); err != nil {
		t.Error(err)
	}
	if err := s.Fits(most + 1); err == nil || !strings.Contains(err.Error(), "has 32 MiB left, and the snapshot of the leader takes 31 MiB") {
		t.Errorf("got %v", err)
	}
}
