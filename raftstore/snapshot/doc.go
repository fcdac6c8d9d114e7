// Package snapshot keeps the state machine's snapshots on disk: raft.SnapshotStore over hashicorp's
// FileSnapshotStore, with damage found before a snapshot is used. DESIGN.md beside this file tells
// the format and why it is so.
//
// Its Store deals in the bytes as they are on disk and on the wire. Compression is the state
// machine's business: it writes a snapshot through NewWriter and reads it through NewReader, so
// Raft sends compressed bytes to followers, and what a follower receives isn't compressed again.
//
// Invariants: a snapshot that can be listed was written and synced whole; one that Open returns has
// passed its checksum; a damaged one is moved aside, never deleted and never used. The package runs
// no goroutines; a Store is safe for concurrent use. Only raftstore may use it.
package snapshot
