package voters

import (
	"slices"
	"strings"
	"testing"
	"time"

	"quorate/cluster/roster"
	"quorate/raftstore"
)

// follower is a node that hears of others by gossip, applies configurations, and leads at last. Its
// clock goes by one second with each step of a script.
type follower struct {
	t       *testing.T
	dir     string
	clock   time.Time
	store   *leading
	names   *roster.Roster
	members []Member
	voters  *Voters
}

func newFollower(t *testing.T) *follower {
	f := &follower{t: t, dir: t.TempDir(), clock: planNow, members: membersOf("n1 n2 n3"), store: &leading{}}
	f.restart()
	for _, m := range f.members {
		if err := f.names.Bind(m.Name, roster.Binding{NodeID: m.NodeID, Index: 1}); err != nil {
			t.Fatal(err)
		}
	}
	f.apply("n1 n2 n3")
	f.note()
	return f
}

func (f *follower) now() time.Time {
	f.clock = f.clock.Add(time.Second)
	return f.clock
}

// restart begins the process again: memory is lost, the disk is not, and gossip hears of all anew.
func (f *follower) restart() {
	f.t.Helper()
	var err error
	if f.names, err = roster.Open(f.dir, "n1", "id-n1"); err != nil {
		f.t.Fatal(err)
	}
	f.voters = votersOf(f.store, f.names)
	f.voters.cfg.Members = func() []Member { return slices.Clone(f.members) }
	f.voters.departed = f.names.Departures()
	for i := range f.members {
		f.members[i].Heard = f.now()
	}
}

// apply applies a configuration that is appended now.
func (f *follower) apply(servers string) { f.applyOld(f.now(), servers) }

func (f *follower) applyOld(appended time.Time, servers string) {
	f.store.servers = configOf(servers)
	f.store.applied = append(f.store.applied, raftstore.Configuration{Appended: appended, Servers: f.store.servers})
}

// note does what a follower does when it has applied configurations.
func (f *follower) note() {
	f.voters.change.lock()
	f.voters.noteDepartures()
	f.voters.change.unlock()
}

// member returns what gossip tells of a node.
func (f *follower) member(name string) *Member {
	i := slices.IndexFunc(f.members, func(m Member) bool { return m.Name == name })
	return &f.members[i]
}

// hear has gossip tell of the next start of a node.
func (f *follower) hear(name string) {
	m := f.member(name)
	m.Start, m.Heard = m.Start+1, f.now()
}

// lead has the node consider the configuration as its leader, and returns the servers then.
func (f *follower) lead() string {
	f.t.Helper()
	for again := true; again; {
		var err error
		if again, _, err = f.voters.review(); err != nil {
			f.t.Fatal(err)
		}
	}
	var names []string
	for _, s := range f.store.servers {
		names = append(names, string(s.ID))
	}
	return strings.Join(names, " ")
}

// TestDepartureKnownByTheLogOnly: a node that learnt of a removal from Raft alone becomes leader.
func TestDepartureKnownByTheLogOnly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		play func(f *follower)
		want string
	}{
		"a member that left is not added again": {func(f *follower) {
			f.apply("n1 n2")
		}, "n1 n2"},
		"nor when several changes are noted by the new leader itself": {func(f *follower) {
			f.apply("n1 n2 n3 n4")
			f.apply("n1 n2 n4")
			f.apply("n1 n2")
		}, "n1 n2"},
		"nor after a restart of the node that noted it": {func(f *follower) {
			f.apply("n1 n2")
			f.note()
			f.restart()
			f.applyOld(planNow, "n1 n2 n3")
			f.applyOld(planNow, "n1 n2")
		}, "n1 n2"},
		"nor when the note found no space at first": {func(f *follower) {
			full := &full{Roster: f.names, full: true}
			f.voters.cfg.Roster = full
			f.apply("n1 n2")
			f.note()
			full.full = false
			f.note()
			f.restart()
		}, "n1 n2"},
		"nor when it moves": {func(f *follower) {
			f.apply("n1 n2")
			f.note()
			f.member("n3").PeerAddr = "n9:1"
		}, "n1 n2"},
		"a later start is added": {func(f *follower) {
			f.apply("n1 n2")
			f.note()
			f.hear("n3")
		}, "n1 n2 n3"},
		"a later start is added after a restart": {func(f *follower) {
			f.apply("n1 n2")
			f.note()
			f.hear("n3")
			f.restart()
			f.applyOld(planNow, "n1 n2 n3")
			f.applyOld(planNow, "n1 n2")
		}, "n1 n2 n3"},
		"a later start is added by a node that catches up": {func(f *follower) {
			left := f.now()
			f.hear("n3")
			f.applyOld(left, "n1 n2")
		}, "n1 n2 n3"},
		"a node that announces that it leaves, before or after its note, and then stays is added": {func(f *follower) {
			f.members = membersOf("n1 n2 n3 n4")
			f.apply("n1 n2 n3 n4")
			f.note()
			f.member("n3").Leaving = true
			f.apply("n1 n2 n4")
			f.apply("n1 n2")
			f.note()
			f.member("n3").Leaving, f.member("n4").Leaving = false, true
			f.note()
			f.member("n4").Leaving = false
		}, "n1 n2 n3 n4"},
		"a node that replaced the one that left under its name stays": {func(f *follower) {
			f.apply("n1 n2")
			f.apply("n1 n2 n3?")
		}, "n1 n2 n3"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFollower(t)
			c.play(f)
			if got := f.lead(); got != c.want {
				t.Errorf("as leader it makes the members %q, want %q", got, c.want)
			}
		})
	}
}

// TestReplacedMemberDrawsNoEntries: a leader that still takes the node that left for the owner of
// its name doesn't move the one that replaced it to that node's address.
func TestReplacedMemberDrawsNoEntries(t *testing.T) {
	t.Parallel()
	f := newFollower(t)
	f.member("n3").PeerAddr = "n9:1"
	f.apply("n1 n2")
	f.apply("n1 n2 n3?")
	if f.lead(); string(f.store.servers[2].Address) != "n3:1" {
		t.Errorf("n3 is at %s", f.store.servers[2].Address)
	}
}

// TestDeparturesAreBounded keeps the newest ones.
func TestDeparturesAreBounded(t *testing.T) {
	t.Parallel()
	var d roster.Departures
	for i := range uint64(1000) {
		d = d.With(roster.Departure{NodeID: "id-" + string(rune('a'+i%26)) + strings.Repeat("x", int(i/26)), Start: i})
	}
	if len(d) != 256 || d[255].Start != 999 {
		t.Errorf("%d are kept, the last of start %d", len(d), d[len(d)-1].Start)
	}
	d = d.With(roster.Departure{NodeID: d[7].NodeID, Start: 5000})
	if start, left := d.Start(d[255].NodeID); len(d) != 256 || !left || start != 5000 {
		t.Errorf("%d are kept, the node that left again with start %d", len(d), start)
	}
}
