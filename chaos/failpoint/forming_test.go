package failpoint_test

import "testing"

// TestKilledWhileThreeFormACluster arms a point in all three nodes of a new cluster, which kills
// each node that reaches it, and restarts the killed nodes. The nodes must form exactly one
// cluster: the node with the lowest id proposes the first configuration, and writes it only after
// all three have promised it.
func TestKilledWhileThreeFormACluster(t *testing.T) {
	binary(t)
	for _, point := range []string{
		"memberFileBeforeRename", "promiseBeforeSync", "promiseAfterSync", "bootstrapBefore", "termAfterSync", "logBeforeSync", "logAfterSync",
		"bootstrapAfter", "applyBefore", "leaderBefore", "startBeforeReady",
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			c, l := prepareTrio(t), newLedger(t)
			for _, n := range c.nodes {
				n.start(kill(point))
			}
			killed := c.restart(point)
			for _, n := range c.nodes {
				n.arm(point, "")
			}
			if killed += c.restart(point); killed == 0 {
				t.Errorf("no node came to %s", point)
			}
			c.awaitVoters()
			l.some(handful, clients(c.nodes...)...)
			for _, n := range c.nodes {
				l.verify(n.client)
			}
			c.agree()
		})
	}
}

// restart starts the nodes again that end at a point, with nothing armed, until all are ready. It
// returns how many did.
func (c *trio) restart(point string) (killed int) {
	c.t.Helper()
	await(c.t, "three nodes to be ready", func() bool {
		ready := 0
		for _, n := range c.nodes {
			if n.gone() {
				n.awaitKilled(point)
				n.start(nil)
				killed++
			}
			if n.connect() && n.client.Ready(c.t.Context()) {
				ready++
			}
		}
		return ready == len(c.nodes)
	})
	return killed
}
