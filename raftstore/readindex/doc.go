// Package readindex implements the two waits of a linearizable read: for an index that a quorum
// confirmed after the read began (Batcher), and for this node to have applied it (Applied).
//
// hashicorp/raft offers neither (hashicorp/raft#603). One confirmation serves every reader that was
// waiting when it began. Readers that arrive during a confirmation share the next one, because the
// current one began before they did. Batcher.Run is the only goroutine; all methods are safe for
// concurrent use.
package readindex
