// Package fsm is what the cluster agrees on: how one log entry changes the state, which event that makes, and how the whole
// state is written to a snapshot and read back.
//
// Apply is a function of the tree, the index and the entry's bytes, and of nothing else: no clock, no random, no map order, no
// configuration. Replicas that apply the same entries hold the same objects, failed entries and events, and write the same
// snapshot bytes, through any number of restarts from snapshots. An entry that this build doesn't know is an *Unknown, with
// which the node ends: a replica that guessed would diverge. Decode refuses such an entry before it is proposed.
//
// Entry is the one codec of the log: a view of the encoded bytes, which the leader's check of a write, Apply, Replay and the
// offline commands read. Its Precondition, checked by state.Precondition.Check, decides about a write on the leader before it
// is proposed and again when it is applied.
//
// A pin is an entry that changes no object, nor anything else that a snapshot has: it names a state, the one after it, that
// every replica is to keep for a while.
//
// Replay makes of an entry on disk the event that applying it made, without any state: all it needs is in the entry, and in
// the state's set of failed entries.
//
// The package has no state and no goroutines. Apply must be called by one goroutine, the owner of the tree; everything else is
// safe for concurrent use. Only raftstore, its snapshots and its log readers, may call it.
package fsm
