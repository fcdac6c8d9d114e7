// Package lifecycle does what objects need without a request: it makes the first namespaces,
// removes what has outlived its grace period or was not written for as long as its kind lives, and
// empties namespaces that are going (semantics M4, G13, G37–G40, M17).
//
// It runs on the leader only, and goes through the log with preconditions, so that late work of a
// former leader does no harm (N16). All it knows it derives from the state, so that the next leader
// goes on where the last one stopped. Run owns a goroutine for each of these tasks while this node
// leads.
package lifecycle
