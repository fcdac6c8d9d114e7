// Package voters keeps Raft's configuration in step with the members that gossip reports.
//
// The leader adds members (always as non-voters), follows members that changed their address, and
// removes servers that have been dead for Config.DeadServerAfter. Plan decides each step: a pure
// function of what the leader sees. hashicorp/raft-autopilot promotes a non-voter once it has
// caught up and is stable. A server that installs its first snapshot is alive to gossip and
// unhealthy to autopilot, so it is neither removed nor promoted (hashicorp/vault#16919).
// Autopilot's own removal of dead servers is off: it acts on the state of gossip at one moment, and
// ignores the number of voters that the operator asked for (hashicorp/consul#5922).
//
// Before the leader removes a server, it writes the departure of its node to the replicated log, so
// that no later leader adds the node again before gossip has reported its removal.
//
// Invariants: a node changes the configuration only while it holds Voters.change, and reads it
// under the same lock, so that no step is based on a stale view. A name is bound to its node id in
// the roster before its server is added.
//
// Goroutines: while this node leads, Run takes the steps in its own goroutine and owns those of
// autopilot. Each leadership has an autopilot of its own, which keeps nothing of an earlier one, so
// quick changes of leadership can't confuse it (hashicorp/nomad#4749).
package voters
