// Package log keeps the Raft log and Raft's stable values (term, vote) in one bolt file, in the
// on-disk format of raft-boltdb/v2, with a checksum for each entry and each stable value. DESIGN.md
// explains why it does not use raft-boltdb itself.
//
// It owns the file. Invariants: the stored indexes have no gaps; every entry read from the file has
// passed its checksum; a write has been synced before the call returns, except the term of a vote,
// which is stored with the vote's candidate (Store.SetUint64). Raft removes a prefix after each
// snapshot. The store keeps the part of it that is within Config.MaxBytes and Config.MaxAge,
// because watches replay from it (Store.Read), and beyond these bounds the entries that followers
// need (Store.Hold).
//
// All methods of Store are safe for concurrent use. Config.OnStall runs on a timer's goroutine.
// Only the goroutine that closes a replaced file outlives the call that starts it, and Close waits
// for it.
package log
