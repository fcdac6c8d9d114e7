package roster

import (
	"errors"
	"slices"
)

// maxRemoved bounds the node ids remembered as removed, and the names as freed; the oldest are
// forgotten first.
const maxRemoved = 256

// ErrRemoved reports a node that an operator removed from the cluster.
var ErrRemoved = errors.New("this node id was removed from the cluster; to use the node again, start it with an empty data directory")

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

// Departure is a start of a node that was a member and left. A later start may join again.
type Departure struct {
	NodeID string `json:"nodeID"`
	Start  uint64 `json:"start"`
}

// Departures are the starts that this node has noted as departed, the last one of each node, in the
// order in which they were noted. A node does not send them to others.
type Departures []Departure

// Departures returns the departures noted. The slice is shared, and the caller must not change it.
func (r *Roster) Departures() Departures {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.doc.Departures
}

// SetDepartures replaces the departures noted, on the disk as well. The caller must not change d
// afterwards.
func (r *Roster) SetDepartures(d Departures) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	doc := r.doc
	doc.Departures = d
	return r.write(doc)
}

// With returns the departures with one more, which replaces an earlier one of the same node. Of
// more than maxRemoved it drops the oldest.
func (d Departures) With(left Departure) Departures {
	next := append(d.Without(left.NodeID), left)
	return next[max(0, len(next)-maxRemoved):]
}

// Without returns the departures of all other nodes.
func (d Departures) Without(nodeID string) Departures {
	return slices.DeleteFunc(slices.Clone(d), func(have Departure) bool { return have.NodeID == nodeID })
}

// Start returns the last start of a node that left; false if none is noted.
func (d Departures) Start(nodeID string) (start uint64, left bool) {
	i := slices.IndexFunc(d, func(have Departure) bool { return have.NodeID == nodeID })
	if i < 0 {
		return 0, false
	}
	return d[i].Start, true
}
