// Package history keeps what changed, in log order, for watchers.
//
// The Hub holds the events of the recent past in one topic for each resource, bounded by bytes over all topics. A watcher is a
// Cursor: a collection and a position, the log index up to which it has seen everything. It owns no events and no goroutine, so
// a slow one costs nothing and holds nobody up (semantics D38). Next reads from memory while the position is recent, from the
// log on disk (the Log interface, implemented by raftstore) where it is not, and waits when it has reached the end. Where the
// log, too, begins later, it returns *Compacted.
//
// Invariants:
//   - A topic's events have rising indexes, and memory holds all of them above the topic's floor. What is evicted raises the
//     floor; eviction takes the chunk with the oldest last event, over all topics.
//   - Positions at or above the floor are served from memory, those below from the log up to the floor: between the two nothing
//     is lost and nothing comes twice.
//   - The hub's position is stored after the events up to it, and a reader loads it before it looks for events: finding none, it
//     may move on to that position.
//   - A waiter looks for events once more after it has taken the topic's channel; the writer takes and closes the channel after
//     it has stored the events. So no wake-up is lost, and none is made when nobody waits.
//   - Below the origin, the index of the last snapshot installed from another node, there is no history: entries may be missing
//     although the log has some from before.
//
// Events lie in chunks that the writer fills in place, beyond what readers know of, so reading takes no locks, and a read hands
// out a part of a chunk rather than a copy. That part keeps its chunk in memory for as long as the reader holds it; chunks are
// small (64 KiB and the last event) to bound what a reader that stalls can pin. Evicted chunks are emptied, so old views of a
// topic hold on to nothing.
//
// The goroutine that applies the log calls Begin, Append and Reset; cursors are used by one goroutine each; the rest is for
// everyone. The package starts no goroutines.
package history
