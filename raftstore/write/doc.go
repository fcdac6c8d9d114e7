// Package write proposes writes and returns their outcomes.
//
// A Writer encodes a Create, an Update or a Delete once, on the node that received the request. It
// proposes the entry if this node leads, and forwards it to the leader otherwise. The outcome is
// exactly one of four: applied, refused, certainly not applied, or unknown. The Writer retries only
// writes that were certainly not applied.
//
// The leader checks preconditions before it proposes. Latches serialize the writes to one key,
// delay conflicts, and reserve a key for the client whose conflict they release. So doomed entries
// rarely reach the log, and clients with a slow connection do not starve. Each proposal has a
// goroutine, for which the store's Lifecycle waits. DESIGN.md of package raftstore has the reasons,
// under "The outcome of a write".
package write
