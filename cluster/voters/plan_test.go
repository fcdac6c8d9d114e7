package voters

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

var planNow = time.Unix(100_000, 0)

// configOf reads "n1 n2 n3?": voters, and non-voters with a question mark, each at the address of
// its name.
func configOf(text string) (servers []raft.Server) {
	for _, word := range strings.Fields(text) {
		name, isReplica := strings.CutSuffix(word, "?")
		s := raft.Server{ID: raft.ServerID(name), Address: raft.ServerAddress(name + ":1")}
		if isReplica {
			s.Suffrage = raft.Nonvoter
		}
		servers = append(servers, s)
	}
	return servers
}

// membersOf reads "n1 n2-90m n3@n9": alive, dead for that long, and at another's address.
func membersOf(text string) (members []Member) {
	for _, word := range strings.Fields(text) {
		m := Member{Cluster: "A", Owner: true, Alive: true, Since: planNow.Add(-time.Hour)}
		word, dead, isDead := strings.Cut(word, "-")
		name, at, moved := strings.Cut(word, "@")
		if !moved {
			at = name
		}
		m.Name, m.NodeID, m.PeerAddr = name, "id-"+name, at+":1"
		if isDead {
			d, err := time.ParseDuration(dead)
			if err != nil {
				panic(err)
			}
			m.Alive, m.Since = false, planNow.Add(-d)
		}
		members = append(members, m)
	}
	return members
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name     string
		config   string
		members  string
		change   func(*Input)
		want     string
		obstacle string
	}{
		{name: "all in order", config: "n1 n2 n3", members: "n1 n2 n3"},
		{name: "a new member is added as non-voter", config: "n1", members: "n1 n2", want: "add n2 n2:1 voter=false"},
		{name: "one at a time, by name", config: "n1", members: "n3 n1 n2", want: "add n2 n2:1 voter=false"},
		{name: "a node that waits for another cluster is not", config: "n1", members: "n1 n2",
			change: func(in *Input) { in.Members[1].Cluster = "B" }},
		{name: "an empty node is not, until it has chosen", config: "n1", members: "n1 n2",
			change: func(in *Input) { in.Members[1].Cluster = "" }},
		{name: "one that is leaving is not", config: "n1", members: "n1 n2", change: func(in *Input) { in.Members[1].Leaving = true }},
		{name: "one that has left is not", config: "n1", members: "n1 n2",
			change: func(in *Input) {
				in.Departed = in.Departed.With(Departure{NodeID: "id-n2", Start: 4})
				in.Members[1].Start = 4
			},
			obstacle: `add "n2" at n2:1`},
		{name: "one that left and started again is", config: "n1", members: "n1 n2",
			change: func(in *Input) {
				in.Departed = in.Departed.With(Departure{NodeID: "id-n2", Start: 4})
				in.Members[1].Start = 5
			},
			want: "add n2 n2:1 voter=false"},
		{name: "a dead one is not", config: "n1", members: "n1 n2-1s"},
		{name: "a voter that moved", config: "n1 n2", members: "n1 n2@n7", want: "move n2 n7:1 voter=true"},
		{name: "a non-voter that moved", config: "n1 n2?", members: "n1 n2@n7", want: "move n2 n7:1 voter=false"},
		{name: "the leader that moved", config: "n1 n2", members: "n1@n7 n2", want: "move n1 n7:1 voter=true"},
		{name: "an impostor does not move a member", config: "n1 n2", members: "n1 n2@n7",
			change: func(in *Input) { in.Members[1].Owner = false }},
		{name: "two that swapped addresses wait, and others do not", config: "n1 n2 n3", members: "n1 n2@n3 n3@n2 n4",
			want: "add n4 n4:1 voter=false", obstacle: `move "n2" at n3:1`},

		{name: "a server dead for long is removed", config: "n1 n2 n3 n4", members: "n1 n2 n3 n4-25h", want: "remove n4 n4:1 voter=true"},
		{name: "not before its time", config: "n1 n2 n3 n4", members: "n1 n2 n3 n4-23h"},
		{name: "not below the size asked for (consul#5922)", config: "n1 n2 n3", members: "n1 n2 n3-99h"},
		{name: "not when the rest has no quorum", config: "n1 n2 n3 n4 n5 n6", members: "n1 n2 n3-25h n4-25h n5-25h n6-25h"},
		{name: "a majority is enough", config: "n1 n2 n3 n4 n5 n6", members: "n1 n2 n3 n4-1h n5-25h n6-1h", want: "remove n5 n5:1 voter=true"},
		{name: "a dead non-voter is, however few are left", config: "n1 n2?", members: "n1 n2-25h", want: "remove n2 n2:1 voter=false"},
		{name: "never when switched off", config: "n1 n2 n3 n4", members: "n1 n2 n3 n4-99h", change: func(in *Input) { in.DeadServerAfter = 0 }},
		{name: "one never seen is dead since this node watches", config: "n1 n2 n3 n4", members: "n1 n2 n3", want: "remove n4 n4:1 voter=true"},
		{name: "so not soon after a start", config: "n1 n2 n3 n4", members: "n1 n2 n3 n4-99h",
			change: func(in *Input) { in.Watching = planNow.Add(-time.Hour) }},
		{name: "one that installs its first snapshot is alive, however far behind (vault#16919)", config: "n1 n2 n3 n4?", members: "n1 n2 n3 n4"},
		{name: "the leader never removes itself", config: "n1 n2 n3 n4", members: "n1-99h n2 n3 n4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := Input{
				Now: planNow, Self: "n1", Cluster: "A", Servers: configOf(c.config), Members: membersOf(c.members),
				Watching: planNow.Add(-48 * time.Hour), DeadServerAfter: 24 * time.Hour, MinVoters: 3,
			}
			if c.change != nil {
				c.change(&in)
			}
			action, obstacles := Plan(in)
			got := ""
			if action != nil {
				got = fmt.Sprintf("%s %s %s voter=%v", action.Kind, action.Name, action.PeerAddr, action.Voter)
			}
			if got != c.want {
				t.Errorf("plan is %q, want %q", got, c.want)
			}
			if all := strings.Join(obstacles, "; "); !strings.Contains(all, c.obstacle) || (c.obstacle == "") != (all == "") {
				t.Errorf("obstacles are %q, want %q", all, c.obstacle)
			}
		})
	}
}

func TestKeepsQuorum(t *testing.T) {
	for _, c := range []struct {
		name, config, members, remove, want string
	}{
		{"one of three", "n1 n2 n3", "n1 n2 n3", "n2", ""},
		{"the dead one of three", "n1 n2 n3", "n1 n2 n3-1m", "n3", ""},
		{"a living one of three while another is dead", "n1 n2 n3", "n1 n2 n3-1m", "n2", "without n2, 1 of 2 voters would be alive; bring n3 back"},
		{"one never seen is dead", "n1 n2 n3", "n1 n2", "n2", "bring n3 back"},
		{"one of two", "n1 n2", "n1 n2", "n2", ""},
		{"a living one of five while two are dead", "n1 n2 n3 n4 n5", "n1 n2 n3 n4-1m n5-1m", "n3", "bring n4, n5 back"},
		{"a living one of five while one is dead", "n1 n2 n3 n4 n5", "n1 n2 n3 n4 n5-1m", "n3", ""},
		{"a non-voter, whoever is dead", "n1 n2 n3 n4?", "n1 n2 n3-1m n4", "n4", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := keepsQuorum(configOf(c.config), membersOf(c.members), "n1", c.remove)
			if (err == nil) != (c.want == "") || err != nil && (!errors.Is(err, ErrNoQuorum) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestOnlyVoter(t *testing.T) {
	if !OnlyVoter(configOf("n1 n2?"), "n1") || OnlyVoter(configOf("n1 n2"), "n1") || OnlyVoter(configOf("n1 n2?"), "n2") {
		t.Error("the last voter is not told from the others")
	}
}
