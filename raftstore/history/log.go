package history

import (
	"context"

	"quorate/raftstore/state"
)

// Log is the log on disk, which has the history before the events in memory. Its methods are called
// concurrently, Events by at most Config.MaxLogReads goroutines.
type Log interface {
	// Events returns the events of a collection with after < Index <= upTo, from the first one, in
	// order, each equal to the live event. It stops once their sizes (Event.Size) add up to
	// maxBytes, so it returns at least one event if there is one. It may stop earlier, to let other
	// readers continue during a long run of entries without events.
	//
	// next is the new position: every event up to it has been returned, and Index <= next <= upTo
	// for each of them. It is greater than after unless err is set. Entries up to upTo have been
	// applied. If entries after `after` are gone, the error is a *Compacted.
	Events(ctx context.Context, p state.Prefix, after, upTo uint64, maxBytes int) (events []*Event, next uint64, err error)

	// Oldest returns the smallest position that Events can begin after: the index before the first
	// entry on disk, or the floor of the failed entries (state.Failed) if that is greater.
	Oldest() uint64
}
