package gossip

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/prometheus/client_golang/prometheus"

	"quorate/cluster/roster"
)

// TestFormerStartsAreNoMembers: a node that was killed and restarted hears of its former start from
// members that have not noticed the kill yet. It must not mistake that start for another node.
func TestFormerStartsAreNoMembers(t *testing.T) {
	g := ofNode(t, Meta{Name: "n1", NodeID: "id-1", Start: 2, Nonce: "y", PeerAddr: "127.0.0.1:1"})
	former := Meta{Name: "n1", NodeID: "id-1", Start: 1, Nonce: "x", PeerAddr: "127.0.0.1:1"}
	other := Meta{Name: "n2", NodeID: "id-2", Start: 1, Nonce: "z", PeerAddr: "127.0.0.2:1"}
	now := time.Now()
	g.table.up(former.gossipName(), "127.0.0.1:2", former, now)
	g.table.up(other.gossipName(), "127.0.0.2:2", other, now)
	g.table.down(former.gossipName(), now)
	if all := g.Members(); len(all) != 1 || all[0].Name != "n2" {
		t.Errorf("the other members are %+v", all)
	}
}

// ofNode is the gossip of a node that knows nobody.
func ofNode(t *testing.T, self Meta) *Gossip {
	t.Helper()
	names, err := roster.Open(t.TempDir(), self.Name, self.NodeID)
	if err != nil {
		t.Fatal(err)
	}
	g, err := New(Config{Self: self, Key: make([]byte, 32), Roster: names, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestStartThatIsOver: a new node takes the name of one that was started again, and has ended
// since. Who has missed only that end, and not yet the end of the start before, keeps nobody out.
func TestStartThatIsOver(t *testing.T) {
	for name, c := range map[string]struct {
		second  memberlist.NodeStateType
		refused bool
	}{
		"the later start has left":    {memberlist.StateLeft, false},
		"the later start has died":    {memberlist.StateDead, false},
		"the later start is alive":    {memberlist.StateAlive, true},
		"the later start may be dead": {memberlist.StateSuspect, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := ofNode(t, Meta{Name: "n3", NodeID: "9", Start: 1, Nonce: "y", PeerAddr: "127.0.0.3:1"})
			var peers []*memberlist.Node
			for start, state := range []memberlist.NodeStateType{memberlist.StateAlive, c.second} {
				m := Meta{Name: "n3", NodeID: "5", Start: uint64(start), Nonce: "x", PeerAddr: "127.0.0.3:1", Cluster: "A", Member: true}
				encoded, err := m.encode()
				if err != nil {
					t.Fatal(err)
				}
				peers = append(peers, &memberlist.Node{Name: m.gossipName(), Meta: encoded, State: state})
			}
			d := delegate{g}
			met := d.NotifyMerge(peers)
			if _, refused := errors.AsType[*Refused](met); refused != c.refused || !refused && met != nil {
				t.Errorf("who is met says: %v", met)
			}
			alive := d.NotifyAlive(peers[0])
			if _, refused := errors.AsType[*Refused](alive); refused || alive == nil {
				t.Errorf("the start before is judged: %v", alive)
			}
			if ended := len(g.refused) > 0; ended != c.refused {
				t.Errorf("this node gives way: %v", ended)
			}
		})
	}
}

// After its end a node changes its list of members no more, also if an exchange goes on that it has
// accepted before: the directory may belong to another process by then.
func TestNoMergeAfterTheEnd(t *testing.T) {
	self := Meta{Name: "n1", NodeID: "id-1", Member: true, Cluster: "c", Start: 1, Nonce: "x", PeerAddr: "127.0.0.1:1"}
	g := ofNode(t, self)
	received := []byte(`{"cluster": "c", "roster": {"bindings": {"n2": {"nodeID": "id-2", "index": 7}}}}`)
	g.endMerges()
	delegate{g}.MergeRemoteState(received, false)
	if got := g.cfg.Roster.Record().Bindings; len(got) > 0 {
		t.Errorf("merged after the end: %v", got)
	}
	g.ended = false
	delegate{g}.MergeRemoteState(received, false)
	if got := g.cfg.Roster.Record().Bindings["n2"].NodeID; got != "id-2" {
		t.Errorf("before the end it merges %q", got)
	}
}
