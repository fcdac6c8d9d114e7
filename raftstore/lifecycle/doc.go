// Package lifecycle ends a store in order. The parts of the store use a Lifecycle to check whether
// the store is closing, to report failures that the node can't survive, and to start work that
// outlives a request.
//
// The store first calls BeginClose, which closes the channel that Closing returns. Then it calls
// CloseTasks, which refuses further work, shuts Raft down, and waits for running work with Wait.
package lifecycle
