package state

import (
	"sort"

	"github.com/tidwall/btree"
)

// Root is the whole state at a log index. It never changes; reading it takes no locks and allocates
// nothing.
//
// A Root has its own copy of the tree's header. When the library copies the header, it gives the
// copy and the tree new owner ids, so that neither owns the existing nodes, and the tree copies a
// node that it does not own before it writes to it. So roots may be read while the tree changes.
type Root struct {
	objects   *btree.Map[Key, *Object]
	index     uint64
	clusterID string
	failed    Failed
	times     Times
	bytes     uint64
	replaced  uint64 // bytes of objects replaced or deleted so far, in this tree
	changes   uint64 // objects set or deleted so far, in this tree
	changed   uint64 // index of the last entry that changed an object, or a later one
	lineage   *lineage
}

// Index returns the index of the last log entry in the state.
func (r *Root) Index() uint64 { return r.index }

// ClusterID returns the cluster's id, "" before the cluster is initialised.
func (r *Root) ClusterID() string { return r.clusterID }

// Changed returns the index of the last log entry that changed an object, or of a later one.
func (r *Root) Changed() uint64 { return r.changed }

// At returns the state at an earlier index if no object has changed since then, nil otherwise.
func (r *Root) At(index uint64) *Root {
	switch {
	case index == r.index:
		return r
	case index < r.changed || index > r.index:
		return nil
	}
	earlier := *r
	earlier.index = index
	return &earlier
}

// Get returns the object of a key, nil if there is none.
func (r *Root) Get(k Key) *Object {
	o, _ := r.objects.Get(k)
	return o
}

// Ascend calls fn with the objects of a collection in the order of their keys, beginning with the
// first key after the given one, until fn returns false.
func (r *Root) Ascend(p Prefix, after Key, fn func(*Object) bool) {
	r.objects.Ascend(max(Key(p), after), func(k Key, o *Object) bool {
		if k == after {
			return true
		}
		return p.Covers(k) && fn(o)
	})
}

// Count returns the number of objects in a collection without iterating over them.
func (r *Root) Count(p Prefix) int { return r.CountAfter(p, "") }

// CountAfter is Count for the objects whose keys come after the given one.
func (r *Root) CountAfter(p Prefix, after Key) int {
	from := sort.Search(r.objects.Len(), func(i int) bool {
		k, _, _ := r.objects.GetAt(i)
		return k >= Key(p) && k > after
	})
	return sort.Search(r.objects.Len()-from, func(i int) bool {
		k, _, _ := r.objects.GetAt(from + i)
		return !p.Covers(k)
	})
}

// nodeBytes is the memory of a tree node, including its share of the nodes above it.
const nodeBytes = 1 << 10

// unshared returns an upper bound of the memory that this root uses and a later one does not:
// objects replaced in between, and nodes copied since. It returns 0 for roots of different trees.
func (r *Root) unshared(later *Root) uint64 {
	if r.lineage != later.lineage || r.changes > later.changes {
		return 0
	}
	nodes := min(later.changes-r.changes, uint64(r.objects.Len()/(treeDegree-1)+1))
	return later.replaced - r.replaced + nodes*nodeBytes
}

// Len returns the number of all objects.
func (r *Root) Len() int { return r.objects.Len() }

// Bytes returns the memory of all objects, by Object.Size.
func (r *Root) Bytes() uint64 { return r.bytes }

// Failed returns the entries up to Index that failed their preconditions and changed nothing.
func (r *Root) Failed() *Failed { return &r.failed }
