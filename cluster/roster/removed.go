package roster

import (
	"errors"
	"slices"
)

// maxRemoved bounds the node ids remembered as removed, and the names as freed; the oldest are
// forgotten first.
const maxRemoved = 256

// ErrRemoved reports a node that has left the cluster, or that an operator removed from it.
var ErrRemoved = errors.New("this node id has left the cluster or was removed from it; to use the node again, start it with an empty data directory")

// Barred returns ErrRemoved if this node has left its cluster or was removed from it, as far as its
// own record says, and nil otherwise. A node of which a new cluster is being made is not barred
// from that one.
func (r *Roster) Barred() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.doc.Barring == nil && slices.Contains(r.doc.Removed, r.self.NodeID) {
		return ErrRemoved
	}
	return nil
}

// addRemoved returns the node ids of mine with those of others, without the oldest beyond
// maxRemoved, and whether others had any that mine lacks.
func (r *Roster) addRemoved(mine, others []string) (removed []string, more bool) {
	removed = mine
	for _, id := range others {
		if !slices.Contains(removed, id) {
			removed = append(slices.Clip(removed), id)
			more = true
		}
	}
	if over := len(removed) - maxRemoved; over > 0 {
		removed = removed[over:]
		r.forgotten.Add(int64(over))
	}
	return removed, more
}
