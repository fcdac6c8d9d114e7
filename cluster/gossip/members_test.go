package gossip

import (
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/cluster/roster"
)

// TestFormerStartsAreNoMembers: a node that was killed and started again is told of its former life by others that have not missed it
// yet. It must not take itself for another one, which is dead.
func TestFormerStartsAreNoMembers(t *testing.T) {
	names, err := roster.Open(t.TempDir(), "n1", "id-1")
	if err != nil {
		t.Fatal(err)
	}
	g, err := New(Config{
		Self: Meta{Name: "n1", NodeID: "id-1", Start: 2, Nonce: "y", PeerAddr: "127.0.0.1:1"}, Roster: names,
		Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
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
