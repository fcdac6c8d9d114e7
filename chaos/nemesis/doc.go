// Package nemesis hurts a cluster under test, with one fault after another or several at a time, and mends it again.
//
// A fault is a name, what it needs of the fleet, and what it does. A Strike is one blow of it: it takes down with each harm how that is
// undone, so that it can be healed at any moment, again after an attempt that failed, and also when the run is broken off in the middle.
// What is random comes from one seed; which node leads, the cluster says.
//
// Goroutines: one for a strike that goes on by itself (the same link cut again and again), ended and awaited by its Heal.
package nemesis
