// Package garbage deletes objects whose owners no longer exist, and removes deleted owners after
// their dependents (specification §3 rules 3–5, semantics G21–G28, G43–G49).
//
// It runs on the leader only. Each write is one log entry for one object, with the object's uid and
// version as preconditions, so that late writes of a former leader are refused (N16). It derives
// all of its data from the replicated state and its changes, so that the next leader continues
// where the last one stopped.
//
// While this node leads, a Collector runs one goroutine, which alone accesses the graph, and one
// for each pending write, at most parallel, for which the first one waits. Decide contains the
// rules; DESIGN.md explains them.
package garbage
