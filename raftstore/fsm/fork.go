package fsm

import (
	"fmt"
	"io"

	"quorate/raftstore/state"
)

// Fork says how the state that a new cluster begins with comes from that of another cluster, of which entries are lost: those
// after a backup, or those that the lost majority had. Every index and version is raised by Gap, the order of versions stays as it
// was. So nothing in the new cluster has a version that the lost entries had, or a lower one than a client has seen.
type Fork struct {
	ClusterID string // of the new cluster
	Gap       uint64
}

// Index returns the index that a state of an index has after the fork.
func (f Fork) Index(index uint64) uint64 { return index + f.Gap }

// WriteFork is WriteSnapshot for the state that a root becomes by a fork. It has no failures: no log leads up to it.
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
