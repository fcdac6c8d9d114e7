// Package applier implements the state machine that Raft drives. An Applier applies committed
// entries with package fsm, publishes the state, passes the events to history, retains the states
// that pins request, and writes and restores snapshots.
//
// Raft calls an Applier from one goroutine; the package starts none. The state that Root returns
// never changes.
package applier
