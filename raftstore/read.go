package raftstore

import (
	"context"

	"quorate/raftstore/read"
	"quorate/raftstore/state"
)

// PinnedFor is how long all nodes retain a state from the moment on that Pin returned it, unless
// they reach a bound on number or memory before.
const PinnedFor = read.PinnedFor

// Read is how fresh a state must be.
type Read = read.Freshness

// Cached is the state that this node has now; it never waits.
func Cached() Read { return read.Cached() }

// AtLeast is a state that has applied the log up to index.
func AtLeast(index uint64) Read { return read.AtLeast(index) }

// Quorum is a linearizable read: a state with every write that any node acknowledged before the
// read began.
func Quorum() Read { return read.Quorum() }

// Page asks for the objects of a collection in a retained state.
type Page = read.Page

// RemotePage is a page of another node's retained state.
type RemotePage = read.RemotePage

// View returns a state as fresh as the Read asks. Cached never waits. AtLeast waits until ctx ends,
// and then returns a *Future. Quorum returns ErrUnavailable when no leader with a quorum confirms
// the read within a few election timeouts, and ErrTimeout when ctx ends before.
func (s *Store) View(ctx context.Context, r Read) (*state.Root, error) { return s.reader.View(ctx, r) }

// Pin returns a state that every node retains for PinnedFor, by its index. The state has every
// write that any node acknowledged before the call. Errors are View's for a Quorum read. Concurrent
// callers share one log entry, and none is written if nothing was since the last.
func (s *Store) Pin(ctx context.Context) (*state.Root, error) { return s.pins.Pin(ctx) }

// FetchRetained fetches a page from another node that still retains a state which this node has
// lost, by a restart or because it installed a snapshot. The error is ErrNotRetained when most
// nodes are known not to retain the state, and ErrUnavailable while too few of them respond.
func (s *Store) FetchRetained(ctx context.Context, p Page) (*RemotePage, error) {
	return s.pages.FetchRetained(ctx, p)
}
