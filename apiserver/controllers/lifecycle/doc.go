// Package lifecycle runs the work on objects that no request triggers: it creates the initial
// namespaces, removes objects whose grace period or time to live has ended, and deletes the content
// of terminating namespaces (semantics M4, G13, G37–G40, M17).
//
// It runs on the leader only, with one goroutine for each task, and more for concurrent writes, for
// which the task waits. Its writes are log entries with preconditions, so that late writes of a
// former leader are refused (N16). It derives all of its data from the replicated state, so that
// the next leader continues where the last one stopped.
package lifecycle
