// Package history keeps the changes of objects, in log order, for watchers.
//
// The Hub holds the events of the recent past in one topic for each resource, bounded by bytes over
// all topics. A watcher has a Cursor: a collection and a position, the log index up to which it has
// seen all events. A Cursor owns no events and no goroutine, so a slow watcher uses no memory and
// delays no other (D38: a watcher that does not keep up never blocks others). Next reads events
// from memory if the position is recent, otherwise from the log on disk (the Log interface,
// implemented by package replay), and waits at the end. It returns *Compacted if the log, too,
// begins after the position.
//
// Invariants:
//   - A topic's events have increasing indexes, and memory holds all of them above the topic's
//     floor. Eviction raises the floor; it takes the chunk with the oldest last event, over all
//     topics.
//   - Memory serves positions at or above the floor. The log on disk serves positions below it, up
//     to the floor. So no event is lost between the two or returned twice.
//   - The writer stores the hub's position after the events up to it, and a reader loads the
//     position before it looks for events. So a reader that finds none may advance to that
//     position.
//   - A waiter looks for events once more after it has taken the topic's channel; the writer takes
//     and closes the channel after it has stored the events. So no wake-up is lost, and the writer
//     does nothing if no cursor waits.
//   - The writer marks the listeners that an event concerns after it has stored the event and before
//     it stores the hub's position, and wakes them afterwards. So a listener that is not marked has
//     no events up to the position, and its cursors may advance without a look at the others.
//   - There is no history below the origin, the last change in the last snapshot installed from
//     another node: entries may be missing there although the log has earlier ones. A snapshot says
//     after which index no entry has an event, so a node that joins an idle cluster serves all who
//     watch it.
//
// A Listener waits on behalf of many cursors of one resource. It names their interests, such as a
// namespace or the value of a field in one, and the hub finds it by these (Index), so that events
// which concern nobody cost nobody anything.
//
// Events are stored in chunks, to which the writer appends beyond the end that readers know. So
// reads take no locks and return a part of a chunk rather than a copy. That part keeps its chunk in
// memory as long as the reader uses it, so chunks are small: they close at 128 events or 64 KiB.
// Evicted chunks are emptied, so old views of a topic keep no events in memory.
//
// A read of the log is of all events of a resource, and kept for a while: cursors that read it
// together, as after a restart, share each read (sharedReads), and filter it as they filter the
// events in memory. Few cursors read at the same time; for the others, the users to whom they
// belong take turns (turns).
//
// The Applier calls Begin, Append and Reset, one at a time; each cursor is used by one goroutine;
// everything else is safe for concurrent use. The package starts no goroutines.
package history
