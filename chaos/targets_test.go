package chaos

import (
	"encoding/pem"
	"log/slog"
	"net/http/httptest"
	"slices"
	"testing"

	"quorate/chaos/client"
	"quorate/chaos/nodes"
	"quorate/chaos/workload"
)

// changing is a fleet whose nodes a test decides on.
type changing struct {
	nodes.Fleet
	now []nodes.Node
}

func (c *changing) Nodes() []nodes.Node { return slices.Clone(c.now) }

// TestTargetsFollowTheFleet checks that clients use all nodes of the fleet and no others, also if a
// new node has the address of one that has left.
func TestTargetsFollowTheFleet(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	fleet := &changing{}
	followed := &targets{
		Targets: workload.NewTargets(), fleet: fleet, credentials: client.Credentials{CA: ca}, log: slog.New(slog.DiscardHandler),
		known: map[string]*client.Client{}, stop: make(chan struct{}),
	}
	defer followed.close()
	first, second := "https://127.0.0.1:1", "https://127.0.0.1:2"
	for _, now := range [][]nodes.Node{
		{{Name: "n1", API: first}, {Name: "n2", API: second}},
		{{Name: "n1", API: first}},
		{{Name: "n1", API: first}, {Name: "n3", API: second}}, // that n2 had
		{{Name: "n3", API: second}},
		{{Name: "n1", API: first}, {Name: "n3", API: second}}, // as it was before
		{{Name: "n1", API: second}, {Name: "n3", API: first}},
	} {
		fleet.now = now
		followed.update()
		followed.update()
		all := followed.All()
		for _, node := range now {
			if !slices.Contains(all, workload.Target{Name: node.Name, Client: followed.known[node.API]}) {
				t.Errorf("%s at %s is asked by nobody", node.Name, node.API)
			}
		}
		if len(all) != len(now) {
			t.Errorf("clients ask %d nodes, of %d", len(all), len(now))
		}
	}
}
