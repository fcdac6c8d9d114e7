// Package log keeps the Raft log and Raft's stable state (term, vote) in one bolt file, in the on-disk format of
// raft-boltdb/v2, with a checksum in every entry. DESIGN.md beside this file says why it isn't raft-boltdb itself.
//
// It owns the file. Invariants: the indexes in it have no gaps; an entry handed out has passed its checksum; a write has been
// synced before the call returns. Raft may drop a prefix after each snapshot: the store keeps more of it, within Config.MaxBytes
// and Config.MaxAge, because watches replay from it (Store.Read), and beyond them what followers need (Store.Hold).
//
// All methods of Store are safe for concurrent use. Config.OnStall is called from a timer; the only goroutine closes a file that
// was replaced, and Close waits for it. Only raftstore may use the package.
package log
