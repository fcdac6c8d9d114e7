package diskguard

import (
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore/failure"
)

// levelsOf parses voters and their levels: "n1 n2- n3-- n4?" are one with a sufficient level, a low
// one, an exhausted one, and one that does not respond.
func levelsOf(text string) (voters []voterLevel) {
	for _, word := range strings.Fields(text) {
		v := voterLevel{level: sufficient}
		switch name := strings.TrimRight(word, "-?"); word[len(name):] {
		case "-":
			v.level = low
		case "--":
			v.level = exhausted
		case "?":
			v.level = unknownLevel
		}
		v.name = strings.TrimRight(word, "-?")
		voters = append(voters, v)
	}
	return voters
}

func TestShortage(t *testing.T) {
	for _, c := range []struct {
		name              string
		voters            string // n1 leads
		full              string
		writes, deletions decision
	}{
		{"all have space", "n1 n2 n3", "", accept, accept},
		{"missing responses alone are no shortage", "n1 n2? n3?", "", accept, accept},
		{"a follower without space", "n1 n2- n3", "n2", accept, accept},
		{"the leader without space", "n1- n2 n3", "n1", leaderFull, accept},
		{"the leader exhausted", "n1-- n2 n3", "n1", leaderFull, leaderFull},
		{"two of three without space", "n1 n2- n3-", "n2 n3", noQuorum, accept},
		{"two of three exhausted", "n1 n2-- n3--", "n2 n3", noQuorum, noQuorum},
		{"one of each", "n1 n2- n3--", "n2 n3", noQuorum, accept},
		{"one without space, one does not respond", "n1 n2- n3?", "n2", noQuorum, accept},
		{"the leader without space, no quorum for another leader", "n1- n2 n3?", "n1", noQuorum, accept},
		{"two of five", "n1 n2- n3 n4-- n5", "n2 n4", accept, accept},
		{"alone", "n1-", "n1", noQuorum, accept},
		{"alone, exhausted", "n1--", "n1", noQuorum, noQuorum},
	} {
		t.Run(c.name, func(t *testing.T) {
			view := assess("n1", levelsOf(c.voters))
			if c.full == "" {
				if view != nil {
					t.Fatalf("got %+v, want no shortage", view)
				}
				return
			}
			if view == nil || strings.Join(view.full, " ") != c.full || view.writes != c.writes || view.deletions != c.deletions {
				t.Fatalf("%+v, want %s %d %d", view, c.full, c.writes, c.deletions)
			}
			_, isFull := errors.AsType[*failure.FullError](view.refuse(false))
			if isFull != (c.writes == noQuorum) {
				t.Errorf("refusal of a write: %v", view.refuse(false))
			}
			if refused := view.refuse(true) != nil; refused != (c.deletions != accept) {
				t.Errorf("deletion refused: %t", refused)
			}
		})
	}
}

// A voter that misses a response keeps its last reported level for as long as it may be alive.
func TestLevelsRememberReports(t *testing.T) {
	start := time.Unix(1000, 0)
	reported := levels{}
	for _, c := range []struct {
		after  time.Duration
		voters string
		writes decision
	}{
		{0, "n1 n2- n3", accept},
		{time.Second, "n1 n2- n3?", accept},
		{levelMemory, "n1 n2- n3?", accept},
		{levelMemory + time.Second, "n1 n2- n3?", noQuorum}, // it is down: writes would use up n2's reserve
		{levelMemory + 2*time.Second, "n1 n2- n3-", noQuorum},
		{levelMemory + 3*time.Second, "n1 n2- n3?", noQuorum},
		{levelMemory + 4*time.Second, "n1 n2- n3", accept},
		{levelMemory + 5*time.Second, "n1 n2? n3", accept}, // a full voter is remembered as well
		{levelMemory + 6*time.Second, "n1 n2? n3?", accept},
		{levelMemory + 7*time.Second, "n1 n2? n3-", noQuorum},
		{levelMemory + 8*time.Second, "n1 n2- n3- n4 n5", accept},
		{levelMemory + 9*time.Second, "n1 n2- n3- n4 n5-", noQuorum},
		{levelMemory + 10*time.Second, "n1 n2- n3- n4 n5?", noQuorum}, // the last report of n5 counts, not the first
	} {
		voters := levelsOf(c.voters)
		reported.fillUnknown(voters, start.Add(c.after))
		got := accept
		if view := assess("n1", voters); view != nil {
			got = view.writes
		}
		if got != c.writes {
			t.Errorf("%s after %s: verdict %d, want %d", c.voters, c.after, got, c.writes)
		}
	}
}

func TestAlarms(t *testing.T) {
	var text strings.Builder
	a := NewAlarms(slog.New(slog.NewTextHandler(io.Writer(&text), nil)), prometheus.NewRegistry())
	lines := func(msg string) int { return strings.Count(text.String(), msg) }
	names := func() (all []string) {
		for _, r := range a.List() {
			all = append(all, string(r.Name)+" "+r.Node+": "+r.Message)
		}
		return all
	}
	for range 2 { // raising an alarm twice has no effect
		a.Raise(NoSpace, "n1", "full")
		a.Set(Diverged, map[string]string{"n3": "differs", "n2": "differs"})
	}
	if want := []string{"diverged n2: differs", "diverged n3: differs", "no-space n1: full"}; !slices.Equal(names(), want) {
		t.Errorf("raised %v, want %v", names(), want)
	}
	if lines("alarm raised") != 3 || !a.IsRaised(NoSpace) || a.IsRaised(DiskStalled) {
		t.Errorf("the log is %s", &text)
	}
	a.Set(Diverged, map[string]string{"n3": "differs from most"})
	a.Clear(NoSpace)
	a.Clear(NoSpace)
	if want := []string{"diverged n3: differs from most"}; !slices.Equal(names(), want) || lines("alarm cleared") != 2 {
		t.Errorf("raised %v, want %v; the log is %s", names(), want, &text)
	}
}
