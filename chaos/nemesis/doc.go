// Package nemesis injects faults into a cluster under test, one at a time or several concurrently,
// and heals them.
//
// A fault has a name, requirements on the fleet, and an action. A Strike is one execution of a
// fault. It records how to undo each effect before it causes it, so that it can be healed at any
// time, again after a failed attempt, and after an interruption. All random choices derive from one
// seed. The cluster reports its leader itself.
//
// Goroutines: one for each strike that repeats its effect (such as cutting a link again and again).
// Heal ends it and waits for it.
package nemesis
