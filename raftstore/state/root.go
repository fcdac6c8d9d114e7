package state

import (
	"sort"

	"github.com/tidwall/btree"
)

// Root is the whole state after one log index. It never changes; reading it takes no locks and allocates nothing.
//
// A Root owns its own copy of the tree's header: the library marks nodes as shared when it copies, the tree then copies
// those nodes before it writes to them, and reads write nothing. So roots are read freely while the tree moves on.
type Root struct {
	objects   *btree.Map[Key, *Object]
	index     uint64
	clusterID string
	failed    Failed
	bytes     uint64
	replaced  uint64 // bytes of objects replaced or deleted so far, in this tree
	lineage   *lineage
}

// Index returns the log index that this is the state after.
func (r *Root) Index() uint64 { return r.index }

// ClusterID returns the id that the cluster was initialised with, or "" before that.
func (r *Root) ClusterID() string { return r.clusterID }

// Get returns the object of a key, or nil.
func (r *Root) Get(k Key) *Object {
	o, _ := r.objects.Get(k)
	return o
}

// Ascend calls fn with the objects of a collection in the order of their keys, from the first key after the given one (from
// the beginning when after is ""), until fn returns false.
func (r *Root) Ascend(p Prefix, after Key, fn func(*Object) bool) {
	r.objects.Ascend(max(Key(p), after), func(k Key, o *Object) bool {
		if k == after {
			return true
		}
		return p.Covers(k) && fn(o)
	})
}

// Count returns the number of objects in a collection, without walking them.
func (r *Root) Count(p Prefix) int {
	from := sort.Search(r.objects.Len(), func(i int) bool {
		k, _, _ := r.objects.GetAt(i)
		return k >= Key(p)
	})
	return sort.Search(r.objects.Len()-from, func(i int) bool {
		k, _, _ := r.objects.GetAt(from + i)
		return !p.Covers(k)
	})
}

// Len returns the number of all objects.
func (r *Root) Len() int { return r.objects.Len() }

// Bytes returns the memory that the objects take, by Object.Size.
func (r *Root) Bytes() uint64 { return r.bytes }

// Failed returns the entries up to Index that failed their preconditions and changed nothing.
func (r *Root) Failed() *Failed { return &r.failed }
