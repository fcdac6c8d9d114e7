// Package simulation runs whole clusters in one goroutine, in simulated time, from a seed. The
// replicated state (raftstore/fsm, state, history and applier) and the choice of members
// (cluster/voters with raft-autopilot) run for real. They run on a model of Raft, disks, network
// and gossip that injects every fault of the real ones, in an order that the seed alone determines.
// After every step the simulation checks the promises of Quorate. The same seed gives the same run
// and the same trace, byte for byte. DESIGN.md says what is real, what is modelled, and what is
// checked.
//
// Tests call Run in a bubble of testing/synctest, whose clock is the simulated one. Run starts
// goroutines only for package voters, serves their calls one at a time in an order of its own, and
// waits for their end.
package simulation
