// Package nemesis injects faults into a cluster under test, one at a time or several concurrently,
// and heals them.
//
// A Fault has a name, requirements on the fleet, and an action. An Injection is one execution of a
// fault. It records how to undo each effect before it causes the effect, so that it can be healed
// at any time: after a failed action, again after a failed attempt to heal it, and after an
// interruption. All random choices derive from Nemesis.Rand. The nemesis asks the cluster for its
// leader.
//
// Inject starts a goroutine for a fault with actions that last, such as cutting a link again and
// again. Heal ends the goroutine and waits for it.
package nemesis
