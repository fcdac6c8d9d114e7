package diskguard

import (
	"errors"
	"math"
	"strings"
	"testing"

	"quorate/raftstore/failure"
)

func withRoom(name string, level level, writes, deletions int64) voterLevel {
	return voterLevel{name: name, level: level, room: room{writes, deletions}}
}

func TestBudget(t *testing.T) {
	unknown := voterLevel{name: "n3", level: unknownLevel}
	for _, c := range []struct {
		name              string
		voters            []voterLevel // n1 leads
		spent             int64
		writes, deletions int64
	}{
		{"alone", []voterLevel{withRoom("n1", sufficient, 100, 200)}, 0, 100, 200},
		{"spent since the report", []voterLevel{withRoom("n1", sufficient, 100, 200)}, 30, 70, 170},
		{
			"a quorum of three",
			[]voterLevel{withRoom("n1", sufficient, 100, 200), withRoom("n2", low, -5, 50), withRoom("n3", sufficient, 80, 300)},
			0, 80, 200,
		},
		{
			"the leader has least",
			[]voterLevel{withRoom("n1", sufficient, 10, 20), withRoom("n2", sufficient, 70, 90), withRoom("n3", sufficient, 80, 90)},
			0, 10, 20,
		},
		{
			"one does not respond",
			[]voterLevel{withRoom("n1", sufficient, 100, 200), withRoom("n2", sufficient, 70, 90), unknown},
			0, 100, 200,
		},
		{
			"one does not respond, one is short",
			[]voterLevel{withRoom("n1", sufficient, 100, 200), withRoom("n2", low, -5, 90), unknown},
			0, 0, 90,
		},
		{"nobody says", []voterLevel{{name: "n1", level: sufficient, room: unlimited()}}, 0, math.MaxInt64, math.MaxInt64},
		{"no voter", nil, 0, math.MaxInt64, math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBudget("n1", c.voters, c.spent)
			if writes, deletions := b.writes.Load(), b.deletions.Load(); writes != c.writes || deletions != c.deletions {
				t.Errorf("%d for writes, %d for deletions; want %d and %d", writes, deletions, c.writes, c.deletions)
			}
		})
	}
}

func TestBudgetIsUsedUp(t *testing.T) {
	b := newBudget("n1", []voterLevel{withRoom("n1", sufficient, 100, 200)}, 0)
	for i, c := range []struct {
		frees bool
		cost  int64
		had   bool
	}{
		{false, 60, true},
		{false, 60, false}, // and takes nothing
		{false, 40, true},
		{false, 1, false},
		{true, 90, true},
		{true, 11, false},
		{true, 10, true}, // all 200, with the writes
		{true, 1, false},
	} {
		if had := b.take(c.frees, c.cost); had != c.had {
			t.Errorf("step %d: %t", i, had)
		}
	}
	full, is := errors.AsType[*failure.FullError](b.refuse(false, 101))
	if !is || strings.Join(full.Nodes, " ") != "n1" {
		t.Errorf("refusal %v", full)
	}
	if !(*budget)(nil).take(false, math.MaxInt64) {
		t.Error("without reports, writes are refused")
	}
}
