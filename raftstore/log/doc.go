// Package log keeps the Raft log and Raft's stable state (term, vote) in one bolt file, in the
// on-disk format of raft-boltdb/v2, with a checksum in every entry. DESIGN.md explains why it does
// not use raft-boltdb itself.
//
// It owns the file. Invariants: the stored indexes have no gaps; every returned entry has passed
// its checksum; a write has been synced before the call returns. Raft drops a prefix after each
// snapshot. The store keeps more of it, within Config.MaxBytes and Config.MaxAge, because watches
// replay from it (Store.Read), and beyond these bounds the entries that followers need
// (Store.Hold).
//
// All methods of Store are safe for concurrent use. A timer calls Config.OnStall. The only
// goroutine closes a replaced file, and Close waits for it. Only raftstore may use the package.
package log
