package raftstore_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore/testcluster"
)

// TestGroupsOfProposals checks that the writes of many clients of three nodes get to Raft in groups,
// that none of them is lost, and that no proposal counts as pending afterwards, also not on a leader
// that has lost its quorum while it had some.
func TestGroupsOfProposals(t *testing.T) {
	registry := prometheus.NewRegistry()
	c := testcluster.New(t, 3, registered(registry))
	c.Ready()
	const clients, each = 32, 20
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for i := range each {
				name := fmt.Sprintf("o-%d-%d", client, i)
				if err := createIn(t.Context(), c.Nodes[client%3].Store, name); err != nil {
					t.Errorf("create %s: %v", name, err)
				}
			}
		})
	}
	all.Wait()
	for _, n := range c.Nodes {
		awaitObjects(t, n, clients*each)
	}
	if groups, proposals := groupsOf(t, registry); proposals < clients*each || float64(proposals) < 1.5*float64(groups) {
		t.Errorf("%d groups of %d proposals together", groups, proposals)
	}

	leader := c.Leader()
	c.Isolate(leader, true)
	for client := range clients {
		all.Go(func() { _ = createIn(within(t, 100*time.Millisecond), leader.Store, fmt.Sprintf("lost-%d", client)) })
	}
	all.Wait()
	c.Isolate(leader, false)
	c.Ready()
	testcluster.Eventually(t, "all proposals are decided", func() bool { return pending(t, registry) == 0 })
}

// groupsOf returns the number of groups of all leaders, and of their proposals.
func groupsOf(t *testing.T, registry *prometheus.Registry) (groups, proposals uint64) {
	t.Helper()
	for _, m := range metricsOf(t, registry, "quorate_raftstore_proposal_group_size") {
		groups += m.GetHistogram().GetSampleCount()
		proposals += uint64(m.GetHistogram().GetSampleSum())
	}
	return groups, proposals
}

// pending returns the number of proposals of all nodes that are not decided.
func pending(t *testing.T, registry *prometheus.Registry) (total float64) {
	t.Helper()
	for _, m := range metricsOf(t, registry, "quorate_raftstore_proposals_pending") {
		total += m.GetGauge().GetValue()
	}
	return total
}
