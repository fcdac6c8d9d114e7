package gossip

import (
	"errors"
	"strings"
	"testing"
	"time"

	"quorate/cluster/roster"
)

func TestJudge(t *testing.T) {
	self := Meta{Name: "n1", NodeID: "5", Start: 3, Nonce: "m", PeerAddr: "a:1"}
	member := func(m Meta) Meta { m.Member, m.Cluster = true, "A"; return m }
	bound := func(name, owner string) func(string, string) error {
		return func(n, id string) error {
			if n == name && id != owner {
				return &roster.NameTaken{Name: n, Owner: owner, Claims: id}
			}
			return nil
		}
	}
	free := bound("", "")
	for _, c := range []struct {
		name    string
		self    Meta
		cluster string
		admit   func(string, string) error
		alive   []Meta
		other   Meta
		want    string // "" lets in, "rejection: …", "refused: …"
	}{
		{name: "an empty node meets another", self: self, other: Meta{Name: "n2", NodeID: "6"}},
		{name: "a member meets one that joins", self: member(self), cluster: "A", other: Meta{Name: "n2", NodeID: "6"}},
		{name: "a member meets one of another cluster", self: member(self), cluster: "A",
			other: Meta{Name: "n2", NodeID: "6", Cluster: "B"}, want: "rejection: it belongs to cluster B, this node to cluster A"},
		{name: "a node that waits for one cluster meets another", self: self, cluster: "A",
			other: Meta{Name: "n2", NodeID: "6", Cluster: "B"}, want: "rejection: it belongs to cluster B"},
		{name: "an earlier start of this node is heard of", self: self, other: Meta{Name: "n1", NodeID: "5", Start: 2, Nonce: "z"}},
		{name: "a later start of this node is alive", self: self, other: Meta{Name: "n1", NodeID: "5", Start: 4},
			want: "refused: another process runs as node n1"},
		{name: "a copy of this node started as often", self: self, other: Meta{Name: "n1", NodeID: "5", Start: 3, Nonce: "n"},
			want: "refused: another process"},
		{name: "a younger namesake", self: self, other: Meta{Name: "n1", NodeID: "6"}, want: "rejection: name \"n1\" is taken by node 5"},
		{name: "an older namesake", self: self, other: Meta{Name: "n1", NodeID: "4"}, want: "refused: name \"n1\" is taken by node 4"},
		{name: "an older namesake that joins a member", self: member(self), cluster: "A", other: Meta{Name: "n1", NodeID: "4"},
			want: "rejection: name \"n1\" is taken by node 5"},
		{name: "a younger namesake that is a member", self: self, other: member(Meta{Name: "n1", NodeID: "6"}),
			want: "refused: name \"n1\" is taken by node 6"},
		{name: "the owner of this node's name by the roster", self: self, admit: bound("n1", "9"), other: Meta{Name: "n1", NodeID: "9"},
			want: "refused: name \"n1\" belongs to node 9"},
		{name: "an older namesake, but the roster knows this node", self: self, admit: bound("n1", "5"), other: Meta{Name: "n1", NodeID: "4"},
			want: "rejection: name \"n1\" belongs to node 5"},
		{name: "a third node under a dead member's name", self: self, admit: bound("n2", "6"), other: Meta{Name: "n2", NodeID: "7"},
			want: "rejection: name \"n2\" belongs to node 6"},
		{name: "a third node under a live node's name", self: self, alive: []Meta{{Name: "n2", NodeID: "6"}},
			other: Meta{Name: "n2", NodeID: "7"}, want: "rejection: name \"n2\" is taken by node 6"},
		{name: "an older third node under a live node's name", self: self, alive: []Meta{{Name: "n2", NodeID: "6"}},
			other: Meta{Name: "n2", NodeID: "3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.admit == nil {
				c.admit = free
			}
			v := view{self: c.self, cluster: c.cluster, admit: c.admit, alive: func(name string) (Meta, bool) {
				for _, m := range c.alive {
					if m.Name == name {
						return m, true
					}
				}
				return Meta{}, false
			}, over: never}
			got := ""
			switch err := admission(v, c.other).(type) {
			case nil:
			case *Refused:
				got = "refused: " + err.Reason
			case *rejection:
				got = "rejection: " + err.reason
			}
			if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
				t.Errorf("judged %q, want %q", got, c.want)
			}
		})
	}
	t.Run("of two namesakes exactly one gives way, whoever is asked", func(t *testing.T) {
		nodes := []Meta{{Name: "n", NodeID: "1"}, {Name: "n", NodeID: "2"}, {Name: "n", NodeID: "3", Member: true, Cluster: "A"}}
		for _, a := range nodes {
			for _, b := range nodes {
				if a.NodeID == b.NodeID {
					continue
				}
				var refused *Refused
				none := func(string) (Meta, bool) { return Meta{}, false }
				first := errors.As(admission(view{self: a, cluster: a.Cluster, admit: free, alive: none, over: never}, b), &refused)
				second := errors.As(admission(view{self: b, cluster: b.Cluster, admit: free, alive: none, over: never}, a), &refused)
				if first == second {
					t.Errorf("%v and %v: gives way %v, %v", a, b, first, second)
				}
			}
		}
	})
}

func never(Meta) bool { return false }

func TestTable(t *testing.T) {
	now := time.Unix(1000, 0)
	n2 := func(start uint64) Meta { return Meta{Name: "n2", NodeID: "id", Start: start, PeerAddr: "x:1"} }
	one := func(t *testing.T, table *memberTable) Member {
		t.Helper()
		all := table.members()
		if len(all) != 1 {
			t.Fatalf("%d members, want 1", len(all))
		}
		return all[0]
	}
	t.Run("the newest start counts, in whatever order they are heard of", func(t *testing.T) {
		for _, order := range [][]uint64{{1, 2}, {2, 1}} {
			table := newMemberTable()
			for _, start := range order {
				m := n2(start)
				table.up(m.gossipName(), "g", m, now)
			}
			if got := one(t, table); got.Start != 2 || !got.Alive {
				t.Errorf("in order %v start %d counts, alive %v", order, got.Start, got.Alive)
			}
		}
	})
	t.Run("the death of an earlier start changes nothing", func(t *testing.T) {
		table := newMemberTable()
		table.up(n2(1).gossipName(), "g", n2(1), now)
		table.up(n2(2).gossipName(), "g", n2(2), now)
		table.down(n2(1).gossipName(), now.Add(time.Second))
		if got := one(t, table); !got.Alive || !got.Since.Equal(now) {
			t.Errorf("it is alive %v since %v", got.Alive, got.Since)
		}
		table.down(n2(2).gossipName(), now.Add(time.Minute))
		if got := one(t, table); got.Alive || !got.Since.Equal(now.Add(time.Minute)) {
			t.Errorf("it is alive %v since %v", got.Alive, got.Since)
		}
	})
	t.Run("a dead node's name may be taken, and it is forgotten in time", func(t *testing.T) {
		table := newMemberTable()
		table.up(n2(1).gossipName(), "g", n2(1), now)
		table.down(n2(1).gossipName(), now)
		other := Meta{Name: "n2", NodeID: "other", PeerAddr: "y:1"}
		table.up(other.gossipName(), "g", other, now)
		if got := one(t, table); got.NodeID != "other" {
			t.Errorf("the name is %s's", got.NodeID)
		}
		table.down(other.gossipName(), now)
		table.down("nobody", now.Add(retryDeadFor+time.Second))
		if got := table.members(); len(got) != 0 {
			t.Errorf("%v are remembered", got)
		}
	})
	t.Run("watchers are woken by every change", func(t *testing.T) {
		table := newMemberTable()
		changed := table.watch()
		table.up(n2(1).gossipName(), "g", n2(1), now)
		select {
		case <-changed:
		default:
			t.Error("nobody was woken")
		}
	})
}

func TestMeta(t *testing.T) {
	t.Run("it survives the way", func(t *testing.T) {
		m := Meta{Name: "n1", NodeID: "id", Start: 7, Nonce: "x", Cluster: "c", Member: true, APIAddr: "a:1", PeerAddr: "p:1",
			Expect: 3, NonVoter: true, Leaving: true, Build: "v1"}
		data, err := m.encode()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeMeta(data); err != nil || got != m {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("one that would not fit is refused at the start", func(t *testing.T) {
		m := Meta{Name: strings.Repeat("n", 300), NodeID: "id", PeerAddr: strings.Repeat("p", 200)}
		if err := m.fits(); err == nil || !strings.Contains(err.Error(), "shorten them") {
			t.Errorf("fits says %v", err)
		}
	})
}

func FuzzDecodeMeta(f *testing.F) {
	f.Add([]byte(`{"n":"n1","i":"id","p":"p:1"}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := decodeMeta(data); err == nil && (m.Name == "" || m.gossipName() == "") {
			t.Errorf("%q decodes to %+v", data, m)
		}
	})
}
