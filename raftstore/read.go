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
// until ctx ends, and then returns a *Future. With Quorum it returns ErrUnavailable if no leader
// with a quorum confirms the read within a few election timeouts, and ErrTimeout if ctx ends first.
func (s *Store) View(ctx context.Context, r Read) (*state.Root, error) { return s.reader.View(ctx, r) }

// Pin returns a state that every node retains for PinnedFor, under its index. The state has every
// write that any node acknowledged before the call. Errors are those of View with Quorum.
// Concurrent callers share one log entry, and Pin writes none if nothing was written since the
// last.
func (s *Store) Pin(ctx context.Context) (*state.Root, error) { return s.pins.Pin(ctx) }

// FetchRetained fetches a page from another node that retains a state which this node has lost in a
// restart or to an installed snapshot. It returns ErrNotRetained if most nodes are known not to
// retain the state, and ErrUnavailable if too few of them respond.
func (s *Store) FetchRetained(ctx context.Context, p Page) (*RemotePage, error) {
	return s.pages.FetchRetained(ctx, p)
}
