package check

import (
	"quorate/chaos/history"
)

// nodes checks that the final states of all nodes are equal, each read from the node itself: their
// objects and the checksums of their whole states.
func nodes(r *history.Record, t *timeline, ops []*history.Op, found findings) {
	late := newState(t, ops)
	for i := range r.Finals {
		if i > 0 {
			compare(&r.Finals[0], &r.Finals[i], late, found)
		}
	}
	for i, node := range r.Checksums.Nodes {
		switch first := r.Checksums.Nodes[0]; {
		case node.Problem != "":
			found.add(SameState, "the checksum of %s isn't known: %s", node.Name, node.Problem)
		case i > 0 && first.Problem == "" && node.Checksum != first.Checksum:
			found.add(SameState, "checksum at version %d: %s on %s, %s on %s",
				r.Checksums.Index, first.Checksum, first.Name, node.Checksum, node.Name)
		}
	}
}

// compare finds the differences between two nodes. Only a write of unknown outcome may have been
// applied between the two responses.
func compare(a, b *history.Final, late *state, found findings) {
	if a.Version > b.Version {
		a, b = b, a
	}
	before, after := byName(a.Items), byName(b.Items)
	excused := func(had, has history.Item, key string) bool {
		switch {
		case a.Version == b.Version:
			return false
		case has == history.Item{}:
			return late.unmade[had.UID]
		default:
			return has.Version > a.Version && late.late[sent{key, has.Value}]
		}
	}
	for key, had := range before {
		if has := after[key]; has != had && !excused(had, has, key) {
			found.add(SameState, "%s: %s on %s, %s on %s", key, describeItem(had), a.Node, describeItem(has), b.Node)
		}
	}
	for key, has := range after {
		if _, both := before[key]; !both && !excused(history.Item{}, has, key) {
			found.add(SameState, "%s: nothing on %s, %s on %s", key, a.Node, describeItem(has), b.Node)
		}
	}
}
