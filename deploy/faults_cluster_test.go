//go:build alerts

package deploy_test

import (
	"slices"
	"testing"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/failpoint"
	"quorate/chaos/nodes"
)

// deathAtTheShippedInterval measures how soon the rules as they are shipped report a dead node.
func deathAtTheShippedInterval(t *testing.T, m *measurements) {
	f := startFleet(t, faultPatience, nodes.ProcessesConfig{Count: 3})
	p := startPrometheus(f.ctx, t, prometheusConfig{nodes: f.Nodes(), credentials: f.monitoring(), rules: readRules(t), interval: shipped})
	p.awaitScrapes(3)
	w := &watched{fleet: f, prometheus: p, measured: m}
	leader, _ := f.leader()
	w.inject("the leader is killed; rules as shipped")
	f.must(f.Kill(f.ctx, leader))
	begin := time.Now()
	w.fires(expected{"QuorateNodeDown", map[string]string{"member": leader}})
	if took := time.Since(begin); took > 90*time.Second {
		t.Errorf("the alert took %s, want about a minute", took)
	}
	w.repair()
	f.must(f.Start(f.ctx, leader))
	w.clears("QuorateNodeDown")
}

func noQuorum(t *testing.T, m *measurements) {
	w := watch(t, m, nodes.ProcessesConfig{Count: 3})
	w.keepWriting()
	dead := []string{"n2", "n3"}
	awaited := []expected{
		{"QuorateNoLeader", nil}, w.of("QuorateNotReady", "n1"), {"QuorateFewVoters", nil}, w.of("QuorateErrors", "n1"),
	}
	w.inject("two of three nodes are killed")
	for _, name := range dead {
		w.must(w.Kill(w.fleet.ctx, name))
		awaited = append(awaited, expected{"QuorateNodeDown", map[string]string{"member": name}}, w.of("QuorateNotScraped", name))
	}
	w.fires(awaited...)
	w.repair()
	for _, name := range dead {
		w.must(w.Start(w.fleet.ctx, name))
	}
	w.clears("QuorateNoLeader", "QuorateNodeDown", "QuorateNotScraped", "QuorateNotReady", "QuorateFewVoters", "QuorateErrors")
}

func slowFollower(t *testing.T, m *measurements) {
	w := watch(t, m, nodes.ProcessesConfig{Count: 3, Binary: buildWithFailpoints(t), TestBuild: true})
	w.keepWriting()
	_, others := w.leader()
	slow := others[0]
	w.inject("a follower applies entries 15 s late")
	w.must(w.Arm(w.fleet.ctx, slow, "applyBefore", "sleep(15000)"))
	w.fires(w.of("QuorateLag", slow))
	w.repair()
	w.must(w.Arm(w.fleet.ctx, slow, "applyBefore", ""))
	w.clears("QuorateLag")
}

// diverged lets a follower apply some entries otherwise than the other nodes, as one with faulty
// memory might, and then replaces it as the runbook says.
func diverged(t *testing.T, m *measurements) {
	w := watch(t, m, nodes.ProcessesConfig{Count: 3, Binary: buildWithFailpoints(t), TestBuild: true})
	w.keepWriting()
	leader, others := w.leader()
	faulty := others[0]
	differs := func() bool {
		sums, err := w.clients[leader].Checksums(w.fleet.ctx)
		return err == nil && slices.Equal(sums.Diverged, []string{faulty})
	}
	w.inject("a follower applies writes wrongly")
	w.must(w.Arm(w.fleet.ctx, faulty, "breakReuseVersion", failpoint.Break))
	w.await("the state of "+faulty+" differs", differs)
	w.must(w.Arm(w.fleet.ctx, faulty, "breakReuseVersion", ""))
	w.fires(expected{"QuorateDiverged", nil})
	if !differs() {
		t.Errorf("the state of %s does not differ any more", faulty)
	}

	w.repair()
	w.must(w.Stop(w.fleet.ctx, faulty))
	_, err := w.Operate(w.fleet.ctx, leader, "remove", faulty)
	w.must(err)
	w.must(w.Wipe(w.fleet.ctx, faulty))
	w.must(w.Start(w.fleet.ctx, faulty))
	w.clears("QuorateDiverged")
	w.await("all nodes have the same state", func() bool {
		sums, err := w.clients[leader].Checksums(w.fleet.ctx)
		return err == nil && len(sums.Nodes) == 3 && len(sums.Diverged) == 0 &&
			!slices.ContainsFunc(sums.Nodes, func(n client.Checksum) bool { return n.Problem != "" })
	})
}

// buildWithFailpoints returns a server with failpoints.
func buildWithFailpoints(t *testing.T) string {
	t.Helper()
	binary, err := failpoint.Build(t.Context(), t.TempDir(), failpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return binary
}
