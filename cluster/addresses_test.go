package cluster_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quorate/cluster/keys"
)

// remembered returns the gossip addresses in a node's data directory, nil if they can't be read.
func remembered(n *node) []string {
	var doc struct {
		Cluster   string   `json:"cluster"`
		Addresses []string `json:"addresses"`
	}
	text, err := os.ReadFile(filepath.Join(n.dir, "gossip.json"))
	if err != nil || json.Unmarshal(text, &doc) != nil || doc.Cluster != n.store.ClusterID() {
		return nil
	}
	return doc.Addresses
}

// awaitRemembered waits until nodes remember exactly the addresses of the others.
func awaitRemembered(t *testing.T, nodes []*node) {
	t.Helper()
	for _, n := range nodes {
		var want []string
		for _, other := range others(nodes, n) {
			want = append(want, other.host+":"+gossipPort)
		}
		slices.Sort(want)
		eventually(t, n.name+" to remember the others", func() bool { return slices.Equal(remembered(n), want) })
	}
}

func TestRememberedAddresses(t *testing.T) {
	t.Run("nodes that restart without --join find each other", func(t *testing.T) {
		t.Parallel()
		nodes := trio(t, keys.Generate(), nil)
		awaitRemembered(t, nodes)
		for _, n := range nodes {
			must(t, n.stop())
		}
		// The peer ports are new ones, so the nodes have a leader only once gossip has told them.
		n1 := nodes[0].again(t, func(s *setup) { s.join = nil })
		n2 := nodes[1].again(t, func(s *setup) { s.join = nil })
		leaderOf(t, n1, n2)
		eventually(t, "n1 to see n2", func() bool { return strings.HasPrefix(n1.members(t), "n1:voter n2:voter ") })
		// The address of n3, which they have not met, is remembered still.
		for _, n := range []*node{n1, n2} {
			eventually(t, n.name+" to remember n3", func() bool { return slices.Contains(remembered(n), nodes[2].host+":"+gossipPort) })
		}
		n3 := nodes[2].again(t, func(s *setup) { s.host, s.join = newHost(), nil })
		awaitRemembered(t, []*node{n1, n2, n3})
		eventuallyMembers(t, n3, "n1:voter n2:voter n3:voter")
	})
	t.Run("a node with a stale --join list finds the others", func(t *testing.T) {
		t.Parallel()
		nodes := trio(t, keys.Generate(), nil)
		awaitRemembered(t, nodes)
		moved := nodes[2].again(t, func(s *setup) { s.host, s.join = newHost(), []string{newHost()} })
		eventuallyMembers(t, moved, "n1:voter n2:voter n3:voter")
		eventually(t, "the leader", func() bool { _, ok := moved.store.Leader(); return ok })
	})
	for name, content := range map[string]string{
		"a damaged file":         `{"cluster": "A`,
		"that of another":        `{"cluster": "ANOTHER", "addresses": ["127.0.0.1:1"]}`,
		"one without a port":     `{"cluster": "CLUSTER", "addresses": ["127.0.0.1"]}`,
		"one with too many":      `{"cluster": "CLUSTER", "addresses": [` + strings.Repeat(`"127.0.0.1:1",`, 64) + `"127.0.0.1:2"]}`,
		"one of another version": `{"cluster": 7}`,
	} {
		t.Run(name+" is ignored and replaced", func(t *testing.T) {
			t.Parallel()
			key := keys.Generate()
			n1 := start(t, setup{name: "n1", key: key, expect: 1})
			n2 := start(t, setup{name: "n2", key: key, join: []string{n1.host}, expect: 1})
			awaitRemembered(t, []*node{n1, n2})
			must(t, n2.stop())
			content := strings.ReplaceAll(content, "CLUSTER", n1.store.ClusterID())
			must(t, os.WriteFile(filepath.Join(n2.dir, "gossip.json"), []byte(content), 0o600))
			n2 = start(t, n2.setup)
			awaitRemembered(t, []*node{n1, n2})
			if got := n2.logs.count("level=WARN", "ignoring the remembered gossip addresses"); got != 1 {
				t.Errorf("n2 says %d times that it ignores the file, want once", got)
			}
		})
	}
}
