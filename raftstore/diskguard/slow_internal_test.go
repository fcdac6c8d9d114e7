package diskguard

import (
	"testing"
	"time"
)

const ms = time.Millisecond

// voter returns what a voter with space reports.
func voter(name string, appendTime time.Duration) voterLevel {
	return voterLevel{name: name, level: sufficient, appendTime: appendTime}
}

func TestSlowLeader(t *testing.T) {
	full := voter("n2", ms)
	full.level = low
	for _, c := range []struct {
		name   string
		voters []voterLevel // n1 leads
		want   string
	}{
		{"a slow leader", []voterLevel{voter("n1", 100*ms), voter("n2", 2*ms), voter("n3", ms)}, "n3"},
		{"the fastest has no space", []voterLevel{voter("n1", 100*ms), full, voter("n3", 2*ms)}, "n3"},
		{"the fastest is unknown", []voterLevel{voter("n1", 100*ms), voter("n2", 0), voter("n3", 2*ms)}, "n3"},
		{"no other has space", []voterLevel{voter("n1", 100*ms), full}, ""},
		{"all are slow", []voterLevel{voter("n1", 100*ms), voter("n2", 50*ms), voter("n3", 90*ms)}, ""},
		{"a slow follower", []voterLevel{voter("n1", ms), voter("n2", 100*ms), voter("n3", ms)}, ""},
		{"many times slower, but fast enough", []voterLevel{voter("n1", 10*ms), voter("n2", ms)}, ""},
		{"longer, but not many times", []voterLevel{voter("n1", 70*ms), voter("n2", 40*ms)}, ""},
		{"the leader is unknown", []voterLevel{voter("n1", 0), voter("n2", ms)}, ""},
		{"the others are unknown", []voterLevel{voter("n1", 100*ms), voter("n2", 0)}, ""},
		{"alone", []voterLevel{voter("n1", 100*ms)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s slowness
			start := time.Unix(1000, 0)
			for after := time.Duration(0); after < slowTime; after += measureInterval {
				if got := s.target("n1", c.voters, start.Add(after)); got != "" {
					t.Fatalf("leadership goes to %s after %v", got, after)
				}
			}
			if got := s.target("n1", c.voters, start.Add(slowTime)); got != c.want {
				t.Errorf("leadership goes to %q, want %q", got, c.want)
			}
		})
	}
}

// A disk that was fast in between counts from the beginning, and transfers are far apart.
func TestSlowLeaderAgain(t *testing.T) {
	slow := []voterLevel{voter("n1", 100*ms), voter("n2", ms)}
	fast := []voterLevel{voter("n1", ms), voter("n2", ms)}
	var s slowness
	for _, c := range []struct {
		at     time.Duration
		voters []voterLevel
		want   string
	}{
		{0, slow, ""},
		{slowTime - ms, slow, ""},
		{slowTime, fast, ""},
		{slowTime + ms, slow, ""},
		{2 * slowTime, slow, ""},
		{2*slowTime + ms, slow, "n2"},
		{3*slowTime + 2*ms, slow, ""}, // it was transferred and came back, or the transfer failed
		{slowPause, slow, ""},
		{slowPause + 2*slowTime + ms, slow, "n2"},
	} {
		if got := s.target("n1", c.voters, time.Unix(1000, 0).Add(c.at)); got != c.want {
			t.Errorf("after %v leadership goes to %q, want %q", c.at, got, c.want)
		}
	}
}

// The disk of a voter that does not respond may be anything.
func TestAppendTimeIsNotRemembered(t *testing.T) {
	now := time.Unix(1000, 0)
	reported := levels{}
	reported.fillUnknown([]voterLevel{voter("n2", ms)}, now)
	silent := []voterLevel{{name: "n2", level: unknownLevel}}
	reported.fillUnknown(silent, now.Add(time.Second))
	if silent[0].level != sufficient || silent[0].appendTime != 0 {
		t.Errorf("got %+v, want the level that was reported and no append time", silent[0])
	}
}
