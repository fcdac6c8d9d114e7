package cluster_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"quorate/cluster/keys"
)

// TestMemberReturnsBeforeItKnewItsCluster starts a member at another address, after it stopped
// before it had learned its cluster's id. The leader must reach the member at the new address,
// although the member can't announce its cluster.
func TestMemberReturnsBeforeItKnewItsCluster(t *testing.T) {
	nodes := trio(t, keys.Generate(), nil)
	oneCluster(t, nodes...)
	back := others(nodes, leaderOf(t, nodes...))[0]
	must(t, back.stop())
	path := filepath.Join(back.dir, "bootstrap.json")
	text, err := os.ReadFile(path)
	must(t, err)
	var doc map[string]any
	must(t, json.Unmarshal(text, &doc))
	delete(doc, "cluster")
	text, err = json.Marshal(doc)
	must(t, err)
	must(t, os.WriteFile(path, text, 0o600))
	s := back.setup
	s.host = newHost()
	moved := start(t, s)
	eventually(t, "the cluster's id on "+moved.name, func() bool { return moved.store.ClusterID() != "" })
	eventuallyMembers(t, moved, "n1:voter n2:voter n3:voter")
}
