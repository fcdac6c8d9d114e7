// Package readindex holds the two waits of a linearizable read: for an index that a quorum confirmed after the read came
// in (Batcher), and for this node to have applied it (Applied).
//
// The library offers neither (hashicorp/raft#603). One confirmation serves every reader that waited when it was asked for;
// readers that come while it is under way share the next one, since it may have begun before they did. Batcher.Run owns the
// one goroutine; the rest is called from anywhere.
package readindex
