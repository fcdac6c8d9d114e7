package voters

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// Member is a node as the leader sees it.
type Member struct {
	Name     string
	NodeID   string
	Start    uint64 // counts the starts of that node
	PeerAddr string
	Cluster  string
	Owner    bool // the roster says that this node owns the name
	Alive    bool
	Since    time.Time // alive or dead since
	Leaving  bool
	NonVoter bool
}

// Input is all that Plan decides on.
type Input struct {
	Now      time.Time
	Self     string // the leader
	Cluster  string
	Servers  []raft.Server // the configuration
	Members  []Member      // by gossip, the leader included
	Watching time.Time     // when this node began to watch: a server that it never saw has been dead since then
	Departed Departures    // starts and nodes that are not added again
	// DeadServerAfter is how long a server must be dead to be removed; 0 is never.
	DeadServerAfter time.Duration
	// MinVoters is the number of voters below which no dead server is removed.
	MinVoters int
}

// Kind of an action.
type Kind string

// The kinds of actions.
const (
	Add    Kind = "add"    // as non-voter
	Move   Kind = "move"   // to another address, with the same suffrage
	Remove Kind = "remove" // a dead server
)

// Action is one change of the configuration.
type Action struct {
	Kind     Kind
	Name     string
	NodeID   string
	PeerAddr string
	Voter    bool // what it is now
	Reason   string
}

// Plan returns the next change of the configuration, and the reasons why other changes cannot be
// made. Additions and moves come first, in the order of the members' names. Removals come last, one
// at a time, so that each is judged by the configuration that results from the one before.
func Plan(in Input) (next *Action, obstacles []string) {
	byName := map[string]Member{}
	for _, m := range in.Members {
		byName[m.Name] = m
	}
	members := slices.SortedFunc(slices.Values(in.Members), func(a, b Member) int { return cmp.Compare(a.Name, b.Name) })
	for _, m := range members {
		action := place(in, m)
		if action == nil {
			continue
		}
		if reason := in.Departed.Refuse(action.Kind, m); reason != "" {
			obstacles = append(obstacles, fmt.Sprintf("%s %q at %s: %s", action.Kind, m.Name, m.PeerAddr, reason))
			continue
		}
		if other, taken := holder(in.Servers, m); taken {
			obstacles = append(obstacles, fmt.Sprintf("%s %q at %s: that is still the address of %q in the configuration",
				action.Kind, m.Name, m.PeerAddr, other))
			continue
		}
		return action, obstacles
	}
	return removeDead(in, byName), obstacles
}

// place returns the change that puts a live member into the configuration as it should be, nil if
// there is none.
func place(in Input, m Member) *Action {
	if !m.Alive || m.Leaving {
		return nil
	}
	i := slices.IndexFunc(in.Servers, func(s raft.Server) bool { return string(s.ID) == m.Name })
	if i < 0 {
		if m.Cluster != in.Cluster {
			return nil // it is empty, or waits for another cluster
		}
		return &Action{Kind: Add, Name: m.Name, NodeID: m.NodeID, PeerAddr: m.PeerAddr, Reason: "a new member"}
	}
	s := in.Servers[i]
	if string(s.Address) == m.PeerAddr || !m.Owner {
		return nil // another node under the member's name must not receive the member's entries
	}
	return &Action{
		Kind: Move, Name: m.Name, NodeID: m.NodeID, PeerAddr: m.PeerAddr, Voter: s.Suffrage == raft.Voter,
		Reason: "it was at " + string(s.Address),
	}
}

// holder returns the other server that has a member's address in the configuration. Raft refuses
// two servers at one address.
func holder(servers []raft.Server, m Member) (name string, taken bool) {
	for _, s := range servers {
		if string(s.Address) == m.PeerAddr && string(s.ID) != m.Name {
			return string(s.ID), true
		}
	}
	return "", false
}

// removeDead returns the removal of one server that has been dead for DeadServerAfter, nil if there
// is none. It removes a voter only if at least MinVoters are left and those alive are a quorum.
func removeDead(in Input, members map[string]Member) *Action {
	if in.DeadServerAfter <= 0 {
		return nil
	}
	voters, alive := 0, 0
	for _, s := range in.Servers {
		if s.Suffrage != raft.Voter {
			continue
		}
		voters++
		if string(s.ID) == in.Self || members[string(s.ID)].Alive {
			alive++
		}
	}
	left := voters - 1
	mayLose := left >= max(in.MinVoters, 1) && alive >= left/2+1
	for _, s := range in.Servers {
		dead, ok := deadFor(in, s, members)
		if !ok || dead < in.DeadServerAfter || (s.Suffrage == raft.Voter && !mayLose) {
			continue
		}
		return &Action{
			Kind: Remove, Name: string(s.ID), NodeID: members[string(s.ID)].NodeID, PeerAddr: string(s.Address),
			Voter: s.Suffrage == raft.Voter, Reason: fmt.Sprintf("dead for %s", dead.Truncate(time.Second)),
		}
	}
	return nil
}

// deadFor returns how long a server has been dead, and false if it is alive.
func deadFor(in Input, s raft.Server, members map[string]Member) (time.Duration, bool) {
	if string(s.ID) == in.Self {
		return 0, false
	}
	m, known := members[string(s.ID)]
	if known && m.Alive {
		return 0, false
	}
	since := in.Watching
	if known && m.Since.After(since) {
		since = m.Since
	}
	return in.Now.Sub(since), true
}
