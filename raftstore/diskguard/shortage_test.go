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

// levelsOf reads "n1 n2- n3-- n4?": voters with a sufficient level, a low one, exhausted ones, and
// those that don't answer.
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
		writes, deletions verdict
	}{
		{"all have space", "n1 n2 n3", "", accept, accept},
		{"who does not answer is no shortage by itself", "n1 n2? n3?", "", accept, accept},
		{"a follower without", "n1 n2- n3", "n2", accept, accept},
		{"the leader without", "n1- n2 n3", "n1", leaderFull, accept},
		{"the leader with nothing left", "n1-- n2 n3", "n1", leaderFull, leaderFull},
		{"two of three", "n1 n2- n3-", "n2 n3", noQuorum, accept},
		{"two of three with nothing left", "n1 n2-- n3--", "n2 n3", noQuorum, noQuorum},
		{"one of each", "n1 n2- n3--", "n2 n3", noQuorum, accept},
		{"one without and one that does not answer", "n1 n2- n3?", "n2", noQuorum, accept},
		{"the leader without, and nobody who can take over with a quorum", "n1- n2 n3?", "n1", noQuorum, accept},
		{"two of five", "n1 n2- n3 n4-- n5", "n2 n4", accept, accept},
		{"alone", "n1-", "n1", noQuorum, accept},
		{"alone with nothing left", "n1--", "n1", noQuorum, noQuorum},
	} {
		t.Run(c.name, func(t *testing.T) {
			view := judge("n1", levelsOf(c.voters))
			if c.full == "" {
				if view != nil {
					t.Fatalf("%+v where there is no shortage", view)
				}
				return
			}
			if view == nil || strings.Join(view.full, " ") != c.full || view.writes != c.writes || view.deletions != c.deletions {
				t.Fatalf("%+v, want %s %d %d", view, c.full, c.writes, c.deletions)
			}
			_, isFull := errors.AsType[*failure.FullError](view.refuse(false))
			if isFull != (c.writes == noQuorum) {
				t.Errorf("a write is answered with %v", view.refuse(false))
			}
			if refused := view.refuse(true) != nil; refused != (c.deletions != accept) {
				t.Errorf("a deletion is refused: %t", refused)
			}
		})
	}
}

// TestLevelIsRemembered: a voter that misses an answer is not taken for one without space, as long
// as it may be there.
func TestLevelIsRemembered(t *testing.T) {
	start := time.Unix(1000, 0)
	reported := levels{}
	for _, c := range []struct {
		after  time.Duration
		voters string
		writes verdict
	}{
		{0, "n1 n2- n3", accept},
		{time.Second, "n1 n2- n3?", accept},
		{levelMemory, "n1 n2- n3?", accept},
		{levelMemory + time.Second, "n1 n2- n3?", noQuorum}, // it is down: writes would use up n2's reserve
		{levelMemory + 2*time.Second, "n1 n2- n3-", noQuorum},
		{levelMemory + 3*time.Second, "n1 n2- n3?", noQuorum},
		{levelMemory + 4*time.Second, "n1 n2- n3", accept},
		{levelMemory + 5*time.Second, "n1 n2? n3", accept}, // nor is one that is full forgotten at once
		{levelMemory + 6*time.Second, "n1 n2? n3?", accept},
		{levelMemory + 7*time.Second, "n1 n2? n3-", noQuorum},
		{levelMemory + 8*time.Second, "n1 n2- n3- n4 n5", accept},
		{levelMemory + 9*time.Second, "n1 n2- n3- n4 n5-", noQuorum},
		{levelMemory + 10*time.Second, "n1 n2- n3- n4 n5?", noQuorum}, // what n5 told last is not what it told first
	} {
		voters := levelsOf(c.voters)
		reported.recall(voters, start.Add(c.after))
		got := accept
		if view := judge("n1", voters); view != nil {
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
	for range 2 { // raised again, it is still the same alarm
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
