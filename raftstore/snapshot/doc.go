// Package snapshot keeps the state machine's snapshots on disk. It implements raft.SnapshotStore
// over hashicorp's FileSnapshotStore, and detects damage before a snapshot is used. DESIGN.md
// describes the format and its reasons.
//
// Store reads and writes the bytes as they are on disk and on the wire. The state machine
// compresses: it writes a snapshot through NewWriter and reads it through NewReader. So Raft sends
// compressed bytes to followers, and a follower stores the received bytes unchanged.
//
// Invariants: a snapshot that List returns was written and synced completely; one that Open returns
// has passed its checksum. SelectNewest moves damaged snapshots aside if an older snapshot and the
// log have all that they held, and keeps the newest of them for inspection. A snapshot that arrives
// from another node in parts (Receive) becomes one of these only as a whole, once it matches the
// checksum that the other node has of it.
//
// The package starts no goroutines; a Store is safe for concurrent use.
package snapshot
