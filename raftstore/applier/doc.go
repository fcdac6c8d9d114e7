// Package applier implements the state machine that Raft drives. An Applier applies committed
// entries with package fsm, publishes the state, appends the events to history, retains the states
// that pins request, and writes and restores snapshots.
//
// The Raft library makes one call at a time to an Applier; the package starts no goroutines. Any
// goroutine may call Root; the state that it returns never changes.
package applier
