// Package garbage deletes objects whose owners no longer exist, and makes owners wait for their
// dependents (specification §3 rules 3–5, semantics G21–G28, G43–G49).
//
// It runs on the leader only. It writes one log entry per object with the object's uid and version
// as preconditions, so late writes of a former leader do no harm (N16). It derives all its
// knowledge from the replicated state and the changes after it, so the next leader continues where
// the last one stopped.
//
// While this node leads, a Collector owns one goroutine, which alone accesses the graph, and the
// goroutines of pending writes, which it waits for. Decide contains the rules; DESIGN.md gives the
// reasons.
package garbage
