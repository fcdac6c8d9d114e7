// Package offline works on the data directory of a node that does not run: it makes the directory
// of the first node of a cluster from a backup (Found), makes the survivor of a lost majority a
// cluster of its own (Recover), and tells what a directory holds (Inspect). DESIGN.md says why
// versions are raised, and by how much.
//
// What it makes appears whole or not at all, and what it replaces is moved aside, never deleted.
// The caller holds the directory's lock. The package runs no goroutines.
package offline
