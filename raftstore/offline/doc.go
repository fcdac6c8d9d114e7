// Package offline works on the data directory of a stopped node. Create makes the directory of the
// first node of a cluster from the state in a backup, Recover turns the survivor of a lost quorum
// into a cluster of its own, and Inspect describes the contents of a directory. DESIGN.md explains
// why versions are raised, and by how much.
//
// New files appear completely or not at all, and files that are replaced are kept aside. The caller
// holds the directory's lock. The package starts no goroutines.
package offline
