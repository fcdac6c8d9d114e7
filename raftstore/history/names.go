package history

import (
	"slices"

	"quorate/raftstore/state"
)

// names are the names of the labels, or of the fields, that interests require. The zero value is
// empty.
type names struct {
	sorted []string
	counts map[string]int // of the interests that require a name
}

func (n *names) add(name string) {
	if n.counts == nil {
		n.counts = make(map[string]int)
	}
	if n.counts[name]++; n.counts[name] == 1 {
		i, _ := slices.BinarySearch(n.sorted, name)
		n.sorted = slices.Insert(n.sorted, i, name)
	}
}

func (n *names) remove(name string) {
	if n.counts[name]--; n.counts[name] > 0 {
		return
	}
	delete(n.counts, name)
	i, _ := slices.BinarySearch(n.sorted, name)
	n.sorted = slices.Delete(n.sorted, i, i+1)
}

// each calls yield with the pairs whose name is required. Both sides are sorted, so each of the
// other pairs costs a comparison: an object may have more than 100,000 labels. yield may remove
// names.
func (n *names) each(of state.Attributes, yield func(name, value string)) {
	left := n.sorted
	for name, value := range of.All() {
		left = skipTo(left, name)
		if len(left) == 0 {
			return
		}
		if left[0] == name {
			before := len(n.sorted)
			yield(name, value)
			if len(n.sorted) != before {
				left = skipTo(n.sorted, name)
			}
		}
	}
}

// skipTo returns the part of sorted names that begins with a name, or with the next one.
func skipTo(sorted []string, name string) []string {
	const near = 8 // names that are compared one by one
	for range near {
		if len(sorted) == 0 || sorted[0] >= name {
			return sorted
		}
		sorted = sorted[1:]
	}
	i, _ := slices.BinarySearch(sorted, name)
	return sorted[i:]
}
