// Package fsm is the replicated state machine: it defines how a log entry changes the state, which
// event results, and how a snapshot of the state is written and read.
//
// Apply depends on the tree, the index and the entry's bytes alone: not on the clock, on random
// numbers, on map order or on configuration. Replicas that apply the same entries hold the same
// objects, failed entries and events, and write the same snapshot bytes, through any number of
// restarts from snapshots. Apply returns an *Unknown for an entry that this build doesn't know, and
// the node stops: a replica that guessed would diverge. Decode refuses such an entry before it is
// proposed.
//
// Entry is the one codec of the log: a view of the encoded bytes, which the leader's check of a
// write, Apply, Replay and the offline commands read. Its Precondition, checked by
// state.Precondition.Check, decides whether the leader proposes a write, and again whether applying
// the entry changes the state.
//
// A pin is an entry that makes every node retain the state after it for a while. It changes no
// object.
//
// Replay rebuilds the event of an entry on disk from the entry and the set of failed entries,
// without the state at that time.
//
// The package has no state, and no goroutines that outlive a call. Apply must be called by one
// goroutine, the owner of the tree; everything else is safe for concurrent use. Package raftstore,
// its subpackages and the simulation of a cluster call it.
package fsm
