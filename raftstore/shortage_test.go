package raftstore

import (
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// roomsOf reads "n1 n2- n3-- n4?": voters with enough room, with little, with none, and that don't answer.
func roomsOf(text string) (voters []voterRoom) {
	for _, word := range strings.Fields(text) {
		v := voterRoom{room: enoughRoom}
		switch name := strings.TrimRight(word, "-?"); word[len(name):] {
		case "-":
			v.room = littleRoom
		case "--":
			v.room = noRoom
		case "?":
			v.room = unknownRoom
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
		{"all have space", "n1 n2 n3", "", taken, taken},
		{"who does not answer is no shortage by itself", "n1 n2? n3?", "", taken, taken},
		{"a follower without", "n1 n2- n3", "n2", taken, taken},
		{"the leader without", "n1- n2 n3", "n1", elsewhere, taken},
		{"the leader with nothing left", "n1-- n2 n3", "n1", elsewhere, elsewhere},
		{"two of three", "n1 n2- n3-", "n2 n3", nowhere, taken},
		{"two of three with nothing left", "n1 n2-- n3--", "n2 n3", nowhere, nowhere},
		{"one of each", "n1 n2- n3--", "n2 n3", nowhere, taken},
		{"one without and one that does not answer", "n1 n2- n3?", "n2", nowhere, taken},
		{"the leader without, and nobody who can take over with a quorum", "n1- n2 n3?", "n1", nowhere, taken},
		{"two of five", "n1 n2- n3 n4-- n5", "n2 n4", taken, taken},
		{"alone", "n1-", "n1", nowhere, taken},
		{"alone with nothing left", "n1--", "n1", nowhere, nowhere},
	} {
		t.Run(c.name, func(t *testing.T) {
			view := judgeShortage("n1", roomsOf(c.voters))
			if c.full == "" {
				if view != nil {
					t.Fatalf("%+v where there is no shortage", view)
				}
				return
			}
			if view == nil || strings.Join(view.full, " ") != c.full || view.writes != c.writes || view.deletions != c.deletions {
				t.Fatalf("%+v, want %s %d %d", view, c.full, c.writes, c.deletions)
			}
			_, isFull := errors.AsType[*FullError](errorOf(view.refuses(&command{})))
			if isFull != (c.writes == nowhere) {
				t.Errorf("a write is answered with %v", view.refuses(&command{}))
			}
			if refused := view.refuses(&command{frees: true}) != nil; refused != (c.deletions != taken) {
				t.Errorf("a deletion is refused: %t", refused)
			}
			if view.refuses(&command{pins: true}) != nil {
				t.Error("the state of a list can't be pinned")
			}
		})
	}
}

// TestRoomIsRemembered: a voter that misses an answer is not taken for one without space, as long as it may be there.
func TestRoomIsRemembered(t *testing.T) {
	start := time.Unix(1000, 0)
	told := rooms{}
	for _, c := range []struct {
		after  time.Duration
		voters string
		writes verdict
	}{
		{0, "n1 n2- n3", taken},
		{time.Second, "n1 n2- n3?", taken},
		{roomMemory, "n1 n2- n3?", taken},
		{roomMemory + time.Second, "n1 n2- n3?", nowhere}, // it is down: writes would use up n2's reserve
		{roomMemory + 2*time.Second, "n1 n2- n3-", nowhere},
		{roomMemory + 3*time.Second, "n1 n2- n3?", nowhere},
		{roomMemory + 4*time.Second, "n1 n2- n3", taken},
		{roomMemory + 5*time.Second, "n1 n2? n3", taken}, // nor is one that is full forgotten at once
		{roomMemory + 6*time.Second, "n1 n2? n3?", taken},
		{roomMemory + 7*time.Second, "n1 n2? n3-", nowhere},
		{roomMemory + 8*time.Second, "n1 n2- n3- n4 n5", taken},
		{roomMemory + 9*time.Second, "n1 n2- n3- n4 n5-", nowhere},
		{roomMemory + 10*time.Second, "n1 n2- n3- n4 n5?", nowhere}, // what n5 told last is not what it told first
	} {
		voters := roomsOf(c.voters)
		told.recall(voters, start.Add(c.after))
		got := taken
		if view := judgeShortage("n1", voters); view != nil {
			got = view.writes
		}
		if got != c.writes {
			t.Errorf("%s after %s: verdict %d, want %d", c.voters, c.after, got, c.writes)
		}
	}
}

func errorOf(r *result) error {
	if r == nil {
		return nil
	}
	return r.err
}

func TestAlarms(t *testing.T) {
	gauge := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "quorate_alarm"}, []string{"alarm"})
	var text strings.Builder
	a := newAlarms(slog.New(slog.NewTextHandler(io.Writer(&text), nil)), gauge)
	lines := func(msg string) int { return strings.Count(text.String(), msg) }
	names := func() (all []string) {
		for _, r := range a.list() {
			all = append(all, string(r.Name)+" "+r.Node+": "+r.Message)
		}
		return all
	}
	for range 2 { // raised again, it is still the same alarm
		a.raise(NoSpace, "n1", "full")
		a.set(Diverged, map[string]string{"n3": "differs", "n2": "differs"})
	}
	if want := []string{"diverged n2: differs", "diverged n3: differs", "no-space n1: full"}; !slices.Equal(names(), want) {
		t.Errorf("raised %v, want %v", names(), want)
	}
	if lines("alarm raised") != 3 || !a.isRaised(NoSpace) || a.isRaised(DiskStalled) {
		t.Errorf("the log is %s", &text)
	}
	a.set(Diverged, map[string]string{"n3": "differs from most"})
	a.clear(NoSpace)
	a.clear(NoSpace)
	if want := []string{"diverged n3: differs from most"}; !slices.Equal(names(), want) || lines("alarm cleared") != 2 {
		t.Errorf("raised %v, want %v; the log is %s", names(), want, &text)
	}
}

// TestAlarmWhereNobodyIsRight: emptying every node that is named must not be what an operator is told to do, where those are all.
func TestAlarmWhereNobodyIsRight(t *testing.T) {
	gauge := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "quorate_alarm"}, []string{"alarm"})
	m, err := newMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	s := &Store{metrics: m, health: health{alarms: newAlarms(slog.New(slog.DiscardHandler), gauge)}}
	away := errors.New("away")
	for _, c := range []struct {
		nodes []Checksum
		want  int
		empty bool
	}{
		{[]Checksum{{"n1", 1, nil}, {"n2", 2, nil}, {"n3", 0, away}}, 2, false},
		{[]Checksum{{"n1", 1, nil}, {"n2", 2, nil}, {"n3", 1, nil}}, 1, true},
		{[]Checksum{{"n1", 1, nil}, {"n2", 2, nil}, {"n3", 3, nil}}, 3, false},
	} {
		s.tellDiverged(&Comparison{Index: 7, Nodes: c.nodes})
		if len(s.Alarms()) != c.want {
			t.Errorf("%v: %d alarms, want %d", c.nodes, len(s.Alarms()), c.want)
		}
		for _, a := range s.Alarms() {
			if empty := strings.Contains(a.Message, "with an empty data directory"); empty != c.empty {
				t.Errorf("%v: of %s it is said: %s", c.nodes, a.Node, a.Message)
			}
		}
	}
}
