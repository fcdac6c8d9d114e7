package cluster_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quorate/cluster/gossip"
	"quorate/cluster/keys"
)

func TestRefusal(t *testing.T) {
	t.Run("a node with another key is refused, with the reason in both logs", func(t *testing.T) {
		t.Parallel()
		n1 := start(t, setup{name: "n1", key: keys.Generate(), expect: 1})
		n2 := start(t, setup{name: "n2", key: keys.Generate(), join: []string{n1.host}, expect: 1})
		eventually(t, "the joiner to say so", func() bool {
			return n2.logs.count("level=ERROR", "refused: the node at "+n1.host+":7946 uses another cluster key", "give this node a copy of its cluster.key") > 0
		})
		eventually(t, "the member to say so", func() bool {
			return n1.logs.count("level=WARN", "gossip from 127.", "refused: encrypted with another cluster key") > 0
		})
		eventuallyMembers(t, n1, "n1:voter")
		if got := n1.logs.count("refused: encrypted with another cluster key"); got != 1 {
			t.Errorf("the member says so %d times within a minute, want once", got)
		}
	})
	t.Run("the name of a live member is refused to another node, which ends", func(t *testing.T) {
		t.Parallel()
		key := keys.Generate()
		nodes := trio(t, key, nil)
		thief := start(t, setup{name: "n2", key: key, join: []string{nodes[0].host}, expect: 3})
		checkNameTaken(t, thief, nodes[0], nodeID(t, nodes[1].dir))
		for _, n := range nodes {
			eventuallyMembers(t, n, "n1:voter n2:voter n3:voter")
		}
	})
	t.Run("a member that lost its disk is refused under its old name until it is removed", func(t *testing.T) {
		t.Parallel()
		key := keys.Generate()
		nodes := trio(t, key, nil)
		leader := leaderOf(t, nodes...)
		lost := nodes[0]
		if lost == leader {
			lost = nodes[1]
		}
		owner := nodeID(t, lost.dir)
		must(t, lost.stop())
		empty := func() *node {
			return start(t, setup{name: lost.name, key: key, join: []string{leader.host}, expect: 3})
		}
		checkNameTaken(t, empty(), leader, owner)
		must(t, leader.Remove(t.Context(), lost.name))
		eventuallyMembers(t, empty(), "n1:voter n2:voter n3:voter")
	})
	t.Run("of two empty nodes of one name the older stays", func(t *testing.T) {
		t.Parallel()
		key := keys.Generate()
		hosts := []string{newHost(), newHost()}
		older := start(t, setup{name: "n1", key: key, host: hosts[0], join: hosts, expect: 3})
		younger := start(t, setup{name: "n1", key: key, host: hosts[1], join: hosts, expect: 3})
		checkNameTaken(t, younger, older, nodeID(t, older.dir))
		must(t, older.stop())
	})
	t.Run("two clusters stay two, and both say why", func(t *testing.T) {
		t.Parallel()
		key := keys.Generate()
		n1 := start(t, setup{name: "n1", key: key, expect: 1})
		eventuallyMembers(t, n1, "n1:voter")
		n2 := start(t, setup{name: "n2", key: key, expect: 1})
		eventuallyMembers(t, n2, "n2:voter")
		n2 = n2.again(t, func(s *setup) { s.join = []string{n1.host} })
		for _, n := range []*node{n1, n2} {
			eventually(t, n.name+" to say so", func() bool { return n.logs.count("refused", "it belongs to cluster", "this node to cluster") > 0 })
		}
		eventuallyMembers(t, n1, "n1:voter")
		eventuallyMembers(t, n2, "n2:voter")
	})
	t.Run("a copy of a data directory ends the node that ran before", func(t *testing.T) {
		t.Parallel()
		key := keys.Generate()
		n1 := start(t, setup{name: "n1", key: key, expect: 1})
		n2 := start(t, setup{name: "n2", key: key, join: []string{n1.host}, expect: 1})
		eventuallyMembers(t, n1, "n1:voter n2:voter")
		copied := t.TempDir()
		for _, file := range []string{"node-id", "members.json"} {
			text, err := os.ReadFile(filepath.Join(n2.dir, file))
			must(t, err)
			must(t, os.WriteFile(filepath.Join(copied, file), text, 0o600))
		}
		start(t, setup{name: "n2", key: key, dir: copied, join: []string{n1.host}, expect: 1})
		var refused *gossip.Refused
		if err := n2.exit(t); !errors.As(err, &refused) || !strings.Contains(err.Error(), "another process runs as node n2") {
			t.Errorf("the first one ends with %v", err)
		}
	})
}

// checkNameTaken waits for a node to end because its name is another's, and for a member to have
// logged why.
func checkNameTaken(t *testing.T, thief, witness *node, owner string) {
	t.Helper()
	err := thief.exit(t)
	var refused *gossip.Refused
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), thief.name) || !strings.Contains(err.Error(), owner) {
		t.Errorf("node %s ends with %v, want it refused for the node %s of that name", thief.name, err, owner)
	}
	eventually(t, witness.name+" to say why", func() bool {
		return witness.logs.count("refused", thief.name, owner, nodeID(t, thief.dir)) > 0
	})
}
