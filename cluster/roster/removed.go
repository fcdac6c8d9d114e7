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
