// Package readindex implements the two waits of a linearizable read. A Batcher waits for an index
// that a quorum confirmed after the read began; Applied waits until this node has applied that
// index.
//
// hashicorp/raft offers neither (hashicorp/raft#603). One confirmation serves every reader that was
// waiting when it began. Readers that arrive during a confirmation share the next one, because the
// current one began before they did. Batcher.Run is the only goroutine; all methods are safe for
// concurrent use.
package readindex
