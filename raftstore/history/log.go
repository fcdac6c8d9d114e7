package history

import (
	"context"

	"quorate/raftstore/state"
)

// Log is the log on disk, where history goes on below what is in memory. Its methods are called concurrently, Events by at
// most Config.MaxLogReads goroutines.
type Log interface {
	// Events returns the events of a collection with after < Index <= upTo, from the first on, in order, each with the content
	// that a live apply gave it. It stops when their sizes (Event.Size) add up to maxBytes, so it returns at least one event
	// when there is one, and may stop earlier, to give other readers a turn in a long stretch without events.
	//
	// next is the position reached: every event up to it has been returned, and Index <= next <= upTo for those that were. It is
	// greater than after unless err is set. Entries up to upTo have been applied. Where entries after `after` are gone, the
	// error is a *Compacted.
	Events(ctx context.Context, p state.Prefix, after, upTo uint64, maxBytes int) (events []*Event, next uint64, err error)

	// Oldest returns the smallest position that Events can begin after: the index before the first entry on disk, or the
	// floor of the failed entries (state.Failed) where that is greater.
	Oldest() uint64
}
