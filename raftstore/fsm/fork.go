package fsm

import (
	"fmt"
	"io"

	"quorate/raftstore/state"
)

// Fork derives the initial state of a new cluster from the state of another cluster that has lost
// entries: those after a backup, or those that only a lost quorum had. It adds Gap to every index
// and version, which keeps their order. If Gap exceeds the number of lost entries, no object of the
// new cluster has the version of a lost entry, or a lower version than a client has seen.
type Fork struct {
	ClusterID string // id of the new cluster
	Gap       uint64
}

// Index returns the index, after the fork, of the state at index.
func (f Fork) Index(index uint64) uint64 { return index + f.Gap }

// WriteFork writes a snapshot of the forked state of a root. It records no failed entries, because
// the new cluster's log begins after it, and not when an object has changed: a client of the old
// cluster may have seen any of its entries.
func WriteFork(w io.Writer, r *state.Root, f Fork) error {
	h := header(r)
	h.Index, h.ClusterId = f.Index(r.Index()), f.ClusterID
	h.Failed, h.FailedFloor = nil, h.Index
	if len(h.TimeIndex) > 0 {
		h.TimeIndex[0] += f.Gap // the others are differences
	}
	if err := write(w, h, r, f.raise); err != nil {
		return fmt.Errorf("write the state of the new cluster: %w", err)
	}
	return nil
}

func (f Fork) raise(o *state.Object) *state.Object {
	raised := *o
	raised.Version += f.Gap
	raised.Created += f.Gap
	raised.Value = o.WithVersion(raised.Version)
	return &raised
}
