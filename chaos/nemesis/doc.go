// Package nemesis injects faults into a cluster under test, one at a time or several concurrently,
// and heals them.
//
// A Fault has a name, requirements on the fleet, and an action. An Injection is one execution of a
// fault. It records how to undo each effect before it causes the effect, so that the injection can
// be healed at any time, again after a failed attempt, and after an interruption. All random
// choices derive from one seed. The nemesis asks the cluster for its leader.
//
// Each injection that repeats its effect (such as cutting a link again and again) has a goroutine.
// Heal ends the goroutine and waits for it.
package nemesis
