// Package write proposes writes and returns their outcomes.
//
// A Writer encodes a Create, an Update or a Delete once, on the node that received the request, and
// proposes it on this node if it leads, or forwards it to the leader. The outcome is exactly one of
// four: applied, refused, certainly not applied, or unknown. The Writer retries only writes that
// were certainly not applied.
//
// The leader checks preconditions before it proposes. Latches serialise the writes to one key,
// delay conflicts, and reserve a key for the client whose conflict they return. So doomed entries
// rarely reach the log, and every client succeeds equally often. Each proposal has a goroutine,
// which the store's Lifecycle waits for. DESIGN.md of package raftstore has the reasons, under "The
// outcome of a write".
package write
