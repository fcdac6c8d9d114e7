package state

import (
	"fmt"

	"github.com/tidwall/btree"
)

// treeDegree bounds a node at 2*treeDegree-1 objects. Each published batch copies the nodes on the
// paths that it touches. Smaller nodes therefore make writes cheaper, but may make the tree a level
// deeper and lookups slower (BenchmarkPublish, BenchmarkGet).
const treeDegree = 16

// Tree is the mutable state. Only the goroutine that applies the log may use it; any goroutine may
// read the roots that it publishes.
type Tree struct {
	objects   *btree.Map[Key, *Object]
	index     uint64
	clusterID string
	failed    Failed
	times     Times
	bytes     uint64
	replaced  uint64
	changes   uint64
	changed   uint64
	lineage   *lineage
	attrs     internTable
}

// lineage identifies a tree. Roots of different trees share no memory, because a snapshot was
// installed between them. The struct has a field because pointers to distinct variables of size
// zero may be equal.
type lineage struct{ _ byte }

// NewTree returns an empty state, before the first log entry.
func NewTree() *Tree {
	return &Tree{objects: btree.NewMap[Key, *Object](treeDegree), lineage: new(lineage), attrs: newInternTable()}
}

// Index returns the tree's log index.
func (t *Tree) Index() uint64 { return t.index }

// ClusterID returns the cluster's id, "" before the cluster is initialised.
func (t *Tree) ClusterID() string { return t.clusterID }

// Get returns the object of a key, nil if there is none.
func (t *Tree) Get(k Key) *Object {
	o, _ := t.objects.Get(k)
	return o
}

// Set stores an object under its key and replaces an earlier one.
func (t *Tree) Set(o *Object) {
	previous, _ := t.objects.Set(o.Key, o)
	t.bytes += uint64(o.Size())
	t.change(previous)
}

// Delete removes the object of a key, if there is one.
func (t *Tree) Delete(k Key) {
	previous, _ := t.objects.Delete(k)
	t.change(previous)
}

// change updates the counters for one change. o is the replaced object, nil if there was none.
func (t *Tree) change(o *Object) {
	t.changes++
	t.changed = t.index
	if o != nil {
		t.bytes -= uint64(o.Size())
		t.replaced += uint64(o.Size())
	}
}

// Advance sets the log index. It panics unless the index increases, because entries applied out of
// order or twice would make nodes diverge.
func (t *Tree) Advance(index uint64) {
	if index <= t.index {
		panic(fmt.Sprintf("state: entry %d applied after entry %d", index, t.index))
	}
	t.index = index
}

// Fail records that the entry at index, which is the tree's, failed its precondition.
func (t *Tree) Fail(index uint64) { t.failed = t.failed.with(index, maxFailed) }

// InitCluster sets the cluster's id. Later calls change nothing.
func (t *Tree) InitCluster(id string) {
	if t.clusterID == "" {
		t.clusterID = id
	}
}

// Intern returns the bytes as Attributes that share memory with an equal set seen recently.
func (t *Tree) Intern(b []byte) Attributes { return Attributes(t.attrs.intern(b)) }

// Publish returns the current state. It makes a few allocations, whatever the size of the state.
// Afterwards, the first change to each tree node copies that node, so callers call Publish once for
// each batch of entries.
func (t *Tree) Publish() *Root {
	return &Root{
		objects:   t.objects.Copy(),
		index:     t.index,
		clusterID: t.clusterID,
		failed:    t.failed,
		times:     t.times,
		bytes:     t.bytes,
		replaced:  t.replaced,
		changes:   t.changes,
		changed:   t.changed,
		lineage:   t.lineage,
	}
}
