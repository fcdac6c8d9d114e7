// Package log keeps the Raft log and Raft's stable values (term, vote) in a folder of files, with
// checksums. DESIGN.md has the format and the reasons for it.
//
// It owns the folder. Invariants: the stored indexes have no gaps; every entry read from a file has
// passed its checksum; a write has been synced before the call returns, except the term of a vote,
// which is stored with the vote's candidate (Store.SetUint64), and the removal of entries that the
// next append replaces. Raft removes a prefix after each snapshot. The store keeps the part of it
// that is within Config.MaxBytes and Config.MaxAge, because watches replay from it (Store.Read), and
// beyond these bounds the entries that followers need (Store.Hold).
//
// All methods of Store are safe for concurrent use. Config.OnStall runs on a timer's goroutine. No
// goroutine outlives the call that starts it.
package log
