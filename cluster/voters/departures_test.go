package voters

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"quorate/cluster/roster"
	"quorate/raftstore"
)

// succession is a leader that removes members, and a later leader that has its log. Gossip reports
// n1, n2 and n3 to both, and none of the removals.
type succession struct {
	t       *testing.T
	store   *leading
	members []Member
	leader  *Voters
	names   *roster.Roster // of the leader
}

func newSuccession(t *testing.T) *succession {
	s := &succession{t: t, members: membersOf("n1 n2 n3"), store: &leading{servers: configOf("n1 n2 n3")}}
	for i := range s.members {
		s.members[i].Start = 4
	}
	s.leader, s.names = s.newLeader(true)
	return s
}

// newLeader returns a leader. It knows the names of the members if bound is true, and otherwise has
// just joined.
func (s *succession) newLeader(bound bool) (*Voters, *roster.Roster) {
	s.t.Helper()
	names, err := roster.Open(s.t.TempDir(), "n1", "id-n1")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range s.members {
		if !bound {
			break
		}
		if err := names.Bind(m.Name, roster.Binding{NodeID: m.NodeID, Index: 1}); err != nil {
			s.t.Fatal(err)
		}
	}
	v := votersOf(s.store, names)
	v.cfg.Members = func() []Member { return slices.Clone(s.members) }
	return v, names
}

func (s *succession) remove(name string, bar bool) {
	s.t.Helper()
	err := error(nil)
	if bar {
		err = s.leader.Remove(s.t.Context(), name)
	} else {
		err = s.leader.apply(s.t.Context(), Action{Kind: Remove, Name: name}) // a dead server
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// member returns what gossip reports of a node.
func (s *succession) member(name string) *Member {
	return &s.members[slices.IndexFunc(s.members, func(m Member) bool { return m.Name == name })]
}

// servers returns the servers after a new leader has reviewed the configuration.
func (s *succession) servers() string {
	s.t.Helper()
	successor, _ := s.newLeader(false)
	for again := true; again; {
		var err error
		if again, _, err = successor.review(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
	}
	var all []string
	for _, server := range s.store.servers {
		all = append(all, fmt.Sprint(server.ID, "@", server.Address))
	}
	return strings.Join(all, " ")
}

// TestNewLeaderAddsNoDepartedStart: whoever leads next adds a removed node only as the removal
// allows it.
func TestNewLeaderAddsNoDepartedStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		play func(s *succession)
		want string
	}{
		"a start that left": {func(s *succession) {
			s.remove("n3", false)
		}, "n1@n1:1 n2@n2:1"},
		"a start that left, at another address": {func(s *succession) {
			s.remove("n3", false)
			s.member("n3").PeerAddr = "n9:1"
		}, "n1@n1:1 n2@n2:1"},
		"a later start of a node that left": {func(s *succession) {
			s.remove("n3", false)
			s.member("n3").Start++
		}, "n1@n1:1 n2@n2:1 n3@n3:1"},
		"a removed node": {func(s *succession) {
			s.remove("n3", true)
		}, "n1@n1:1 n2@n2:1"},
		"a later start of a removed node": {func(s *succession) {
			s.remove("n3", true)
			s.member("n3").Start++
		}, "n1@n1:1 n2@n2:1"},
		"another node under the name of a removed one": {func(s *succession) {
			s.remove("n3", true)
			s.member("n3").NodeID = "id-other"
		}, "n1@n1:1 n2@n2:1 n3@n3:1"},
		"a node removed by a request that was repeated": {func(s *succession) {
			s.remove("n3", false)
			s.remove("n3", true)
			s.member("n3").Start++
		}, "n1@n1:1 n2@n2:1"},
		"two nodes": {func(s *succession) {
			s.members = append(s.members, membersOf("n4")...)
			s.member("n4").Start = 1
			s.store.servers = configOf("n1 n2 n3 n4")
			s.remove("n3", true)
			s.remove("n4", false)
		}, "n1@n1:1 n2@n2:1"},
		"a member whose removal failed, at another address": {func(s *succession) {
			s.store.lost, s.store.keeps = raftstore.ErrNotLeader, true
			if err := s.leader.Remove(s.t.Context(), "n3"); !errors.Is(err, ErrNotLeader) {
				s.t.Errorf("the removal fails with %v", err)
			}
			s.store.lost = nil
			s.member("n3").Start++
			s.member("n3").PeerAddr, s.member("n3").Owner = "n9:1", true
		}, "n1@n1:1 n2@n2:1 n3@n9:1"},
		"a member that replaced the one that left": {func(s *succession) {
			s.remove("n3", false)
			s.store.servers = configOf("n1 n2 n3?")
			s.member("n3").PeerAddr, s.member("n3").Owner = "n9:1", true // gossip still reports the one that left
		}, "n1@n1:1 n2@n2:1 n3@n3:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSuccession(t)
			c.play(s)
			if got := s.servers(); got != c.want {
				t.Errorf("the new leader makes the servers %q, want %q", got, c.want)
			}
		})
	}
}

// TestDeadServerDeparts: a server that the leader gives up, and whose process still runs behind a
// partition, is not added by a later leader that hears of it.
func TestDeadServerDeparts(t *testing.T) {
	t.Parallel()
	s := newSuccession(t)
	s.leader.cfg.DeadServerAfter = time.Minute
	s.leader.watching = time.Now().Add(-time.Hour)
	n3 := s.member("n3")
	n3.Alive, n3.Since = false, time.Now().Add(-time.Hour)
	if _, _, err := s.leader.review(t.Context()); err != nil {
		t.Fatal(err)
	}
	n3.Alive = true
	if got, want := s.servers(), "n1@n1:1 n2@n2:1"; got != want {
		t.Errorf("the new leader makes the servers %q, want %q", got, want)
	}
	n3.Start++
	if got, want := s.servers(), "n1@n1:1 n2@n2:1 n3@n3:1"; got != want {
		t.Errorf("with a later start the servers are %q, want %q", got, want)
	}
}

// TestDepartureIsWrittenFirst: the configuration changes only after the departure is committed.
func TestDepartureIsWrittenFirst(t *testing.T) {
	t.Parallel()
	s := newSuccession(t)
	s.remove("n3", true)
	if want := []string{"write", "remove n3"}; !slices.Equal(s.store.calls, want) {
		t.Errorf("the calls are %q, want %q", s.store.calls, want)
	}
	for name, c := range map[string]struct {
		refuse    error
		notLeader bool
	}{
		"another node leads":       {raftstore.ErrUnavailable, true},
		"the outcome is unknown":   {raftstore.ErrUnknownOutcome, true},
		"the disks are full":       {&raftstore.FullError{Nodes: []string{"n1"}}, false},
		"the entry can't be coded": {raftstore.ErrTooLarge, false},
	} {
		s := newSuccession(t)
		s.store.refuse = c.refuse
		err := s.leader.Remove(t.Context(), "n3")
		if !errors.Is(err, c.refuse) || errors.Is(err, ErrNotLeader) != c.notLeader || len(s.store.servers) != 3 {
			t.Errorf("%s: Remove returns %v and leaves %d servers", name, err, len(s.store.servers))
		}
		if s.names.Admit("n3", "id-n3") != nil {
			t.Errorf("%s: the node is barred", name)
		}
	}
}

// TestLaterLeaderFinishesRemoval: a leader that lost leadership after the node's server was removed
// has not barred the node. The next leader does.
func TestLaterLeaderFinishesRemoval(t *testing.T) {
	t.Parallel()
	s := newSuccession(t)
	s.store.lost = raftstore.ErrNotLeader
	if err := s.leader.Remove(t.Context(), "n3"); !errors.Is(err, ErrNotLeader) {
		t.Fatalf("the removal returns %v", err)
	}
	successor, names := s.newLeader(true)
	s.store.servers = append(s.store.servers, configOf("n3")...) // the removal is not committed
	if _, _, err := successor.review(t.Context()); err != nil || names.Admit("n3", "id-n3") != nil {
		t.Errorf("a member is barred: %v", errors.Join(err, names.Admit("n3", "id-n3")))
	}
	s.store.servers = configOf("n1 n2")
	if _, _, err := successor.review(t.Context()); err != nil || !errors.Is(names.Admit("n3", "id-n3"), roster.ErrRemoved) {
		t.Errorf("the removed node is admitted: %v", err)
	}
}

// TestDeparturesAreBounded keeps the newest ones.
func TestDeparturesAreBounded(t *testing.T) {
	t.Parallel()
	var d Departures
	for i := range uint64(1000) {
		d = d.With(Departure{NodeID: fmt.Sprint("id-", i), Start: i})
	}
	if len(d) != maxDepartures || d[maxDepartures-1].Start != 999 {
		t.Errorf("%d are kept, the last of start %d", len(d), d[len(d)-1].Start)
	}
	d = d.With(Departure{NodeID: d[7].NodeID, Start: 5000})
	if last := d[len(d)-1]; len(d) != maxDepartures || last.Start != 5000 {
		t.Errorf("%d are kept, the last of start %d", len(d), last.Start)
	}
}
