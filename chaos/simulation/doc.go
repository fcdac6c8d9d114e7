// Package simulation runs a whole cluster, with its faults and clients, from one seed and in
// simulated time. The replicated state (raftstore/fsm, state, history and applier) and the choice
// of members (cluster/voters with raft-autopilot) are the product's code. Raft, disks, network and
// gossip are models that also inject their faults. The simulation checks the promises of Quorate
// while the cluster runs and at its end. The same seed gives the same run and the same trace, byte
// for byte. DESIGN.md says what is real, what is modelled, and what is checked.
//
// Tests call Run in a bubble of testing/synctest, whose clock is the simulated one. Everything
// happens in the goroutine that calls Run, except the goroutines of package voters: Run serves
// their calls one at a time in an order of its own, and waits for their end.
package simulation
