// Package simulation runs whole clusters in one goroutine, in simulated time, from a seed: what a
// cluster agrees on (raftstore/fsm, state, history, and raftstore's state machine around them) and
// what changes its members (cluster/voters with raft-autopilot) run for real, on a model of Raft,
// disks, network and gossip that does to them whatever the real ones could do, in an order that the
// seed alone decides. After every step it is checked that what Quorate promises holds. The same
// seed gives the same run, to the byte of its trace. DESIGN.md says what is real, what is modelled,
// and what is checked.
//
// It is for tests, which call Run in a bubble of testing/synctest: its clock is the simulated one.
// Run starts goroutines only for package voters, serves their calls one at a time in an order of
// its own, and waits for their end.
package simulation
