// Package lifecycle runs the work on objects that no request triggers: it creates the initial
// namespaces, removes objects whose grace period or time to live has ended, and deletes the content
// of terminating namespaces (semantics M4, G13, G37–G40, M17).
//
// It runs on the leader only. Its writes are log entries with preconditions, so that late writes of
// a former leader are refused (N16). It keeps no state of its own beyond what it derives from the
// replicated state, so that the next leader continues where the last one stopped. While this node
// leads, Run runs one goroutine for each task.
package lifecycle
