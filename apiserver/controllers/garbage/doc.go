// Package garbage deletes objects whose owners are gone, and makes owners wait for their dependents
// (specification §3 rules 3–5, semantics G21–G28, G43–G49).
//
// It runs on the leader only and goes through the log, one entry for each object, with the object's
// uid and version as preconditions, so that late work of a former leader does no harm (N16). All it
// knows it derives from the state and the changes after it, so that the next leader goes on where
// the last one stopped.
//
// A Collector owns one goroutine while this node leads, which alone knows the graph, and those of
// the writes under way, which it waits for. Decide is the rule; DESIGN.md tells why things are as
// they are.
package garbage
