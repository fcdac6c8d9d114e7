package history

import (
	"context"

	"quorate/raftstore/state"
)

// Log is the log on disk, which has the history before the events in memory. Its methods are called
// concurrently, Events by at most Config.MaxLogReads goroutines.
type Log interface {
	// Events returns the events of a collection with after < Index <= upTo, in order, beginning
	// with the first. Each equals the live event, except for Created (see fsm.Replay). The caller
	// ensures that the entries up to upTo have been applied. Events stops once the sizes of the
	// events (Event.Size) add up to maxBytes, and may stop earlier to let other readers continue,
	// even without an event.
	//
	// next is the new position: every event up to it has been returned, and none after it. It is
	// greater than after and at most upTo, unless err is set. If entries after `after` are gone,
	// the error is a *Compacted.
	Events(ctx context.Context, p state.Prefix, after, upTo uint64, maxBytes int) (events []*Event, next uint64, err error)

	// Oldest returns the smallest position that Events can begin after: the index before the first
	// entry on disk, or the floor of the failed entries (state.Failed) if that is greater.
	Oldest() uint64
}
