// Package check judges a recorded history: from the operations and events of clients and watchers
// it computes a Verdict, which says how often the cluster broke each Promise, with samples.
//
// The events of all watchers together form a timeline: every change by version, each caused by one
// write, including writes of unknown outcome. Versions are the order in which changes happened, so
// most checks compare a watcher, a list or a final state with the timeline. A sweep through time
// (sweep.go) decides whether quorum operations are linearizable: it looks for a moment for each
// operation, such that changes happen in the order of their versions and each response fits the
// state at its moment. Porcupine confirms these moments with its own model of a key (model.go).
// Where the timeline is uncertain, porcupine searches for an order itself.
//
// All times are of one clock. An operation takes effect between Invoked and Answered, both
// inclusive, or, if its outcome is unknown, at any time after Invoked. An event happened no later
// than Arrived. Check assumes nothing else, and reports what it cannot judge.
package check
