// Package write takes writes to the log and returns their outcomes.
//
// A Writer encodes a Create, an Update or a Delete once, on the node that the request came to, and
// takes it to the leader: this node's log, or the leader's node. The outcome is exactly one of
// four: applied, refused, surely not applied, or unknown. The Writer retries only what was surely
// not applied.
//
// The leader checks preconditions before it proposes. Latches serialise the writes to one key,
// delay conflicts and reserve a key for the client whose conflict they return, so that doomed
// entries rarely reach the log and every client gets its share. Each proposal has a goroutine of
// its own, which the store's Lifecycle waits for. DESIGN.md of package raftstore has the reasons,
// under "The outcome of a write".
package write
