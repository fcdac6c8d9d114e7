// Package voters keeps Raft's configuration in step with the members that gossip knows, on the leader.
//
// Plan decides: who is added (as non-voter, always), whose address has changed, which dead server is given up. It is a pure
// function of what the leader sees, one step at a time. Promotion to voter is hashicorp/raft-autopilot's, once a server has
// caught up and is stable; a server that installs its first snapshot is alive to gossip and not healthy to autopilot, so it is
// neither promoted nor given up (hashicorp/vault#16919). Autopilot's own clean-up is off: it acts at once on what gossip says
// this moment, where Plan wants a long death, and counts against the size the operator asked for (hashicorp/consul#5922).
//
// Invariants: all changes of the configuration by this node go through one mutex, under which the configuration is read as well,
// so none acts on a stale view. A name is bound to its node id in the roster before the server is added.
//
// Goroutines: Run, and while this node leads those of autopilot, which Run waits for. Each leadership gets an autopilot of its
// own: nothing is carried over a loss, so quick flips cannot confuse it (hashicorp/nomad#4749).
package voters
