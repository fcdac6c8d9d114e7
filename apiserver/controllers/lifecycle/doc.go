// Package lifecycle runs the work on objects that no request triggers: it creates the initial
// namespaces, removes objects whose grace period has ended or whose time to live has passed, and
// empties terminating namespaces (semantics M4, G13, G37–G40, M17).
//
// It runs on the leader only. Its writes go through the log with preconditions, so late writes of a
// former leader do no harm (N16). It derives all its knowledge from the replicated state, so the
// next leader continues where the last one stopped. Run owns one goroutine per task while this node
// leads.
package lifecycle
