// Package nemesis injects faults into a cluster under test, one after the other or several at a
// time, and heals them.
//
// A fault has a name, its requirements on the fleet, and an action. A Strike is one run of a fault.
// It records how to undo each effect before the effect, so that it can be healed at any moment,
// again after an attempt that failed, and when the run is interrupted. All random choices derive
// from one seed; the cluster itself reports its leader.
//
// Goroutines: one for each strike that repeats its effect (such as cutting a link again and again),
// ended and awaited by its Heal.
package nemesis
