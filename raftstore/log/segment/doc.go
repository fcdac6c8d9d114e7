// Package segment keeps the entries of a Raft log in a folder of files, the segments, each of which
// continues where the one before ends. Appends go to the last segment, the active one, and are
// synced before they return. DESIGN.md of package log has the format and the reasons for it.
//
// Invariants: the indexes have no gaps; an entry that Append has acknowledged is served unchanged
// until it is removed, or reported as *Damage; what a crash has left of an append that was not
// acknowledged is dropped.
//
// One goroutine at a time may call the methods that change a Log. The methods that read it are safe
// for concurrent use, also beside changes. A Log has no goroutines of its own.
package segment
