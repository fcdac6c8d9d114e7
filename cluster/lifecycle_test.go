package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"quorate/cluster"
	"quorate/cluster/gossip"
	"quorate/cluster/keys"
	"quorate/cluster/roster"
)

func TestLeave(t *testing.T) {
	t.Run("a follower that leaves is out when Leave returns", func(t *testing.T) {
		t.Parallel()
		nodes := trio(t, keys.Generate(), nil)
		leader := leaderOf(t, nodes...)
		rest, leaving := others(nodes, leader), leader
		leaving, rest = rest[0], []*node{leader, rest[1]}
		must(t, leaving.Leave(t.Context()))
		if strings.Contains(leader.members(t), leaving.name) {
			t.Errorf("%s is still among %s", leaving.name, leader.members(t))
		}
		must(t, leaving.Leave(t.Context())) // repeated
		must(t, leaving.stop())
		for _, n := range rest {
			eventuallyMembers(t, n, rest2(rest))
		}
		names, err := roster.Open(leaving.dir, leaving.name, nodeID(t, leaving.dir))
		must(t, err)
		if err := names.Barred(); !errors.Is(err, roster.ErrRemoved) {
			t.Errorf("started again, it ends with %v", err)
		}
	})
	t.Run("a leader hands over and leaves, and an empty node takes its name", func(t *testing.T) {
		t.Parallel()
		nodes := trio(t, keys.Generate(), nil)
		leader := leaderOf(t, nodes...)
		rest := others(nodes, leader)
		must(t, leader.Leave(t.Context()))
		for _, n := range rest {
			eventuallyMembers(t, n, rest2(rest))
		}
		must(t, leader.stop())
		s := leader.setup
		var refused *gossip.Refused
		if err := start(t, s).exit(t); !errors.As(err, &refused) {
			t.Errorf("started again, it ends with %v", err)
		}
		s.dir = t.TempDir()
		successor := start(t, s)
		for _, n := range append(rest, successor) {
			eventuallyMembers(t, n, "n1:voter n2:voter n3:voter")
		}
	})
	t.Run("the only voter cannot leave", func(t *testing.T) {
		t.Parallel()
		n := start(t, setup{name: "n1", key: keys.Generate(), expect: 1})
		eventuallyMembers(t, n, "n1:voter")
		if err := n.Leave(t.Context()); !errors.Is(err, cluster.ErrLastVoter) {
			t.Errorf("Leave says %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience) // a refusal does not wait for another leader
		defer cancel()
		if err := n.Remove(ctx, n.name); !errors.Is(err, cluster.ErrLastVoter) {
			t.Errorf("Remove says %v", err)
		}
	})
}

// blind is a store that knows no leader once a test says so.
type blind struct {
	cluster.Store
	on *atomic.Bool
}

func (b blind) Leader() (string, bool) {
	if b.on.Load() {
		return "", false
	}
	return b.Store.Leader()
}

// TestLeaveWithoutResponse: a leader removes a node that leaves, and no response arrives. The node
// learns by gossip that it has left: its request succeeds, and it ends without an error.
func TestLeaveWithoutResponse(t *testing.T) {
	t.Parallel()
	blinded := map[string]*atomic.Bool{"n1": {}, "n2": {}, "n3": {}}
	nodes := trio(t, keys.Generate(), func(s *setup) {
		name := s.name
		s.wrap = func(store cluster.Store) cluster.Store { return blind{store, blinded[name]} }
	})
	leader := leaderOf(t, nodes...)
	leaving := others(nodes, leader)[0]
	blinded[leaving.name].Store(true)
	left := make(chan error, 1)
	go func() { left <- leaving.Leave(t.Context()) }()
	eventually(t, "the node to announce that it leaves", func() bool { return leaving.logs.count("leave the cluster") > 0 })
	removeUnnoticed(t, leader, leaving)
	must(t, <-left)
	must(t, leaving.stop())
}

func TestOperate(t *testing.T) {
	t.Run("a removed node ends, and is not let in again", func(t *testing.T) {
		t.Parallel()
		nodes := trio(t, keys.Generate(), nil)
		leader := leaderOf(t, nodes...)
		rest := others(nodes, leader)
		removed, asked := rest[0], rest[1] // a follower is asked: it forwards
		must(t, asked.Remove(t.Context(), removed.name))
		var refused *gossip.Refused
		if err := removed.exit(t); !errors.As(err, &refused) || !strings.Contains(err.Error(), "was removed from it") {
			t.Errorf("the removed node ends with %v", err)
		}
		back := start(t, removed.setup)
		if err := back.exit(t); !errors.As(err, &refused) {
			t.Errorf("the removed node, started again, ends with %v", err)
		}
		if err := asked.Remove(t.Context(), "n9"); !errors.Is(err, cluster.ErrUnknownMember) {
			t.Errorf("removing nobody: %v", err)
		}
	})
	t.Run("a leader is removed by its successor", func(t *testing.T) {
		t.Parallel()
		nodes := trio(t, keys.Generate(), nil)
		leader := leaderOf(t, nodes...)
		must(t, leader.Remove(t.Context(), leader.name))
		var refused *gossip.Refused
		if err := leader.exit(t); !errors.As(err, &refused) {
			t.Errorf("the removed leader ends with %v", err)
		}
	})
	t.Run("leadership is handed to the node asked for, through any node", func(t *testing.T) {
		t.Parallel()
		nodes := trio(t, keys.Generate(), nil)
		rest := others(nodes, leaderOf(t, nodes...))
		got, err := rest[0].TransferLeader(t.Context(), rest[1].name)
		if err != nil || got != rest[1].name {
			t.Errorf("leader is %q, %v, want %s", got, err, rest[1].name)
		}
		if _, err := rest[0].TransferLeader(t.Context(), "n9"); !errors.Is(err, cluster.ErrUnknownMember) {
			t.Errorf("to nobody: %v", err)
		}
	})
}

func TestDeadServerAfter(t *testing.T) {
	t.Run("a dead server is removed after its time, but never below the size asked for", func(t *testing.T) {
		t.Parallel()
		key := keys.Generate()
		quick := func(s *setup) { s.deadServerAfter = 2 * time.Second }
		nodes := trio(t, key, quick)
		n4 := start(t, setup{name: "n4", key: key, join: []string{nodes[0].host}, expect: 3, deadServerAfter: 2 * time.Second})
		eventuallyMembers(t, nodes[0], "n1:voter n2:voter n3:voter n4:voter")
		must(t, n4.stop())
		for _, n := range nodes {
			eventuallyMembers(t, n, "n1:voter n2:voter n3:voter")
		}
		leader := leaderOf(t, nodes...)
		rest := others(nodes, leader)
		must(t, rest[0].stop())
		// DeadServerAfter passes for the dead voter before it does for a replica that starts and
		// stops later, and the replica is removed.
		replica := start(t, setup{name: "n5", key: key, join: []string{leader.host}, expect: 1, replica: true})
		eventually(t, "the replica", func() bool { return strings.Contains(leader.members(t), "n5:nonvoter") })
		must(t, replica.stop())
		eventually(t, "the replica to be removed", func() bool { return !strings.Contains(leader.members(t), "n5") })
		if got := leader.members(t); !strings.Contains(got, rest[0].name+":voter†") {
			t.Errorf("members are %s: the dead voter is gone, below the three asked for", got)
		}
	})
}

// crashing is a store that fails in the moment of bootstrap, as a crash would.
type crashing struct{ cluster.Store }

var errCrash = errors.New("crash")

func (crashing) Bootstrap([]raft.Server) error { return errCrash }

func TestBootstrapCrash(t *testing.T) {
	t.Run("a proposer that crashed between promises and bootstrap resumes the same bootstrap", func(t *testing.T) {
		t.Parallel()
		key := keys.Generate()
		hosts := []string{newHost(), newHost(), newHost()}
		var nodes []*node
		for i, name := range []string{"n1", "n2", "n3"} {
			s := setup{name: name, key: key, host: hosts[i], join: hosts, expect: 3}
			if i == 0 {
				s.wrap = func(s cluster.Store) cluster.Store { return crashing{s} }
			}
			nodes = append(nodes, start(t, s)) // n1 has the lowest node id: it proposes
		}
		if err := nodes[0].exit(t); !errors.Is(err, errCrash) {
			t.Fatalf("the proposer ends with %v", err)
		}
		id := attempt(t, nodes[0])
		for _, n := range nodes[1:] {
			if got := attempt(t, n); got != id || id == "" {
				t.Errorf("%s promised %q, the proposer proposed %q", n.name, got, id)
			}
		}
		// A fourth makes three without the proposer: they must not form another cluster.
		n4 := start(t, setup{name: "n4", key: key, join: hosts, expect: 3})
		eventually(t, "the others to wait for the proposer", func() bool {
			return nodes[1].logs.count("it cannot be reached, and only it can call that off") > 0
		})
		nodes[0] = start(t, setup{name: "n1", key: key, host: hosts[0], dir: nodes[0].dir, join: hosts, expect: 3})
		oneCluster(t, append(nodes, n4)...)
		if got := attempt(t, nodes[0]); got != id {
			t.Errorf("the proposer resumed %q, had %q", got, id)
		}
		eventuallyMembers(t, n4, "n1:voter n2:voter n3:voter n4:voter")
	})
}

// full is a store whose disk is full in the moment of bootstrap.
type full struct{ cluster.Store }

func (full) Bootstrap([]raft.Server) error {
	return fmt.Errorf("bootstrap: failed to append configuration entry to log: %v", syscall.ENOSPC) // as the library words it
}

// TestBootstrapOnAFullDisk checks a bootstrap in which the library has stored the first term but
// not the first configuration. The node must end: if it continued, it would wait forever for a
// configuration that no node writes. A restarted node repeats the bootstrap.
func TestBootstrapOnAFullDisk(t *testing.T) {
	t.Parallel()
	s := setup{name: "n1", key: keys.Generate(), dir: t.TempDir(), host: newHost(), expect: 1}
	again := s
	s.wrap = func(s cluster.Store) cluster.Store { return full{s} }
	if err := start(t, s).exit(t); err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Fatalf("the node ends with %v", err)
	}
	n := start(t, again)
	eventuallyMembers(t, n, "n1:voter")
	oneCluster(t, n)
}

func attempt(t *testing.T, n *node) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(n.dir, "bootstrap.json"))
	must(t, err)
	var doc struct{ Pledge struct{ ID string } }
	must(t, json.Unmarshal(text, &doc))
	return doc.Pledge.ID
}

func TestMetrics(t *testing.T) {
	n := start(t, setup{name: "n1", key: keys.Generate(), expect: 1})
	eventuallyMembers(t, n, "n1:voter")
	families, err := n.registry.Gather()
	must(t, err)
	got := map[string]bool{}
	for _, f := range families {
		got[f.GetName()] = true
	}
	for _, want := range []string{
		"quorate_cluster_initialised", "quorate_cluster_gossip_health", "quorate_cluster_gossip_members_alive",
		"quorate_cluster_gossip_members_dead", "quorate_cluster_gossip_refused_total", "quorate_cluster_voters_healthy_servers",
		"quorate_cluster_voters_failure_tolerance",
	} {
		if !got[want] {
			t.Errorf("no metric %s", want)
		}
	}
}

// TestEveryNodeReportsDeadMembers checks that each living node, leader or not, reports a dead member
// by name until the member is removed, and does not report itself.
func TestEveryNodeReportsDeadMembers(t *testing.T) {
	t.Parallel()
	nodes := trio(t, keys.Generate(), nil)
	dead := leaderOf(t, nodes...)
	rest := others(nodes, dead)
	for i, n := range nodes {
		want := map[string]float64{"n1": 1, "n2": 1, "n3": 1}
		delete(want, n.name)
		eventually(t, fmt.Sprintf("node %d to report %v", i+1, want), func() bool { return maps.Equal(memberAlive(t, n), want) })
	}
	must(t, dead.stop())
	for _, n := range rest {
		eventually(t, n.name+" to report that "+dead.name+" is dead", func() bool {
			alive, known := memberAlive(t, n)[dead.name]
			return known && alive == 0
		})
	}
	leader := leaderOf(t, rest...)
	must(t, leader.Remove(t.Context(), dead.name))
	for _, n := range rest {
		eventually(t, n.name+" to forget "+dead.name, func() bool {
			_, known := memberAlive(t, n)[dead.name]
			return !known
		})
	}
}

// memberAlive returns what a node reports of the other members.
func memberAlive(t *testing.T, n *node) map[string]float64 {
	t.Helper()
	families, err := n.registry.Gather()
	must(t, err)
	alive := map[string]float64{}
	for _, f := range families {
		if f.GetName() == "quorate_cluster_member_alive" {
			for _, m := range f.Metric {
				alive[m.Label[0].GetValue()] = m.GetGauge().GetValue()
			}
		}
	}
	return alive
}

func TestRunEnds(t *testing.T) {
	t.Run("at once, while a join address swallows packets", func(t *testing.T) {
		t.Parallel()
		// 198.51.100.0/24 is for documentation: nothing answers there.
		n := start(t, setup{name: "n1", key: keys.Generate(), join: []string{"198.51.100.1"}, expect: 1})
		<-n.Ready()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- n.stop() }()
		select {
		case err := <-done:
			must(t, err)
		case <-ctx.Done():
			t.Fatal("Run does not return")
		}
	})
}

func others(nodes []*node, without *node) []*node {
	var rest []*node
	for _, n := range nodes {
		if n != without {
			rest = append(rest, n)
		}
	}
	return rest
}

// rest2 is what two remaining voters see.
func rest2(nodes []*node) string {
	a, b := nodes[0].name, nodes[1].name
	return min(a, b) + ":voter " + max(a, b) + ":voter"
}
