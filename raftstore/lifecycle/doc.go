// Package lifecycle ends a store in order. Its parts ask a Lifecycle whether the store is closing,
// report to it what the node can't survive, and start on it the work that outlives a request.
//
// The store calls BeginClose first, which closes Closing; then it shuts Raft down, calls
// CloseTasks, which refuses further work, and waits for the work under way with Wait.
package lifecycle
