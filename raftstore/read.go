package raftstore

import (
	"context"

	"quorate/raftstore/read"
	"quorate/raftstore/state"
)

// PinnedFor is the time for which all nodes retain a state after Pin has returned it, unless they
// reach a bound on number or memory first.
const PinnedFor = read.PinnedFor

// Read specifies how fresh a state must be.
type Read = read.Freshness

// Cached requests the present state of this node, without waiting.
func Cached() Read { return read.Cached() }

// AtLeast requests a state that has applied the log up to index.
func AtLeast(index uint64) Read { return read.AtLeast(index) }

// Quorum requests a linearizable read: a state with every write that any node acknowledged before
// the read began.
func Quorum() Read { return read.Quorum() }

// Page requests the objects of a collection in a retained state.
type Page = read.Page

// RemotePage is a page of another node's retained state.
type RemotePage = read.RemotePage

// View returns a state as fresh as r requires. With Cached it never waits. With AtLeast it waits
// until this node has applied the index, and returns a *Future if ctx ends first. With Quorum it
// returns ErrUnavailable if the read is not confirmed and applied within a few election timeouts,
// at once a *NoLeaderError if no leader has been known for that long, and ErrTimeout if ctx ends
// first. A wait that the end of the store interrupts returns ErrClosed.
func (s *Store) View(ctx context.Context, r Read) (*state.Root, error) { return s.reader.View(ctx, r) }

// Pin returns a state that every node retains under its index, for PinnedFor or until the node
// reaches a bound on number or memory. The state has every write that any node acknowledged before
// the call. Errors are those of View with Quorum. Concurrent callers share one log entry. If
// nothing has been written since the last pin and that pin is less than a minute old, Pin reuses it
// and writes no entry.
func (s *Store) Pin(ctx context.Context) (*state.Root, error) { return s.pins.Pin(ctx) }

// FetchRetained fetches a page of a retained state from another node, after this node has lost the
// state in a restart or to an installed snapshot. It returns ErrNotRetained if most nodes are known
// not to retain the state, ErrUnavailable if too few of them respond, and ErrTimeout if ctx ends
// first.
func (s *Store) FetchRetained(ctx context.Context, p Page) (*RemotePage, error) {
	return s.pages.FetchRetained(ctx, p)
}
