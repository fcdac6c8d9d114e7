// Package readindex implements the two waits of a linearizable read, which hashicorp/raft lacks
// (hashicorp/raft#603): a Batcher waits for an index that a quorum confirmed after the read began,
// and Applied waits until this node has applied that index.
//
// One confirmation serves every reader that was waiting when it began. A reader that arrives during
// a confirmation waits for the next one, because the current one began before the reader did. A
// confirmation begins a little later if that lets it serve more readers.
//
// The package starts no goroutines; the caller runs Batcher.Run. All other methods are safe for
// concurrent use, except that calls of Applied.Advance must not overlap.
package readindex
