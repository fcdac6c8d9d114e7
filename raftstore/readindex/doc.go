// Package readindex holds the two waits of a linearizable read: for an index that a quorum
// confirmed after the read began (Batcher), and for this node to have applied it (Applied).
//
// hashicorp/raft offers neither (hashicorp/raft#603). One confirmation serves every reader that
// waited when it began; readers that arrive during it share the next one, because it began before
// they did. Batcher.Run is the only goroutine; all methods are safe for concurrent use.
package readindex
