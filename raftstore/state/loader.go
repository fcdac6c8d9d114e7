package state

import (
	"errors"
	"fmt"
)

// errLoad reports loaded data that is not a valid state.
var errLoad = errors.New("inconsistent state")

// Loader builds a tree from the objects of a snapshot, in the order of their keys.
type Loader struct {
	tree *Tree
	last Key
}

// NewLoader returns a loader of the state at index with the given failed entries (see Failed.All
// and Failed.Floor). The failures must be in ascending order, above the floor, and at most index.
func NewLoader(index uint64, clusterID string, failed []uint64, floor uint64) (*Loader, error) {
	t := NewTree()
	t.index, t.changed, t.clusterID = index, index, clusterID
	t.failed.floor = floor
	last := floor
	for _, failure := range failed {
		if failure <= last {
			return nil, fmt.Errorf("failed entry %d after %d: %w", failure, last, errLoad)
		}
		t.failed = t.failed.with(failure, maxFailed)
		last = failure
	}
	if last > index {
		return nil, fmt.Errorf("failed entry %d beyond index %d: %w", last, index, errLoad)
	}
	return &Loader{tree: t}, nil
}

// SetChanged sets the index of an entry after which none changed an object, before any is added.
// Without it, that is the index of the state.
func (l *Loader) SetChanged(index uint64) error {
	if index > l.tree.index {
		return fmt.Errorf("entry %d changed an object, beyond index %d: %w", index, l.tree.index, errLoad)
	}
	l.tree.changed = index
	return nil
}

// Intern is Tree.Intern for the tree being built.
func (l *Loader) Intern(b []byte) Attributes { return l.tree.Intern(b) }

// Add appends an object, whose key must be greater than the last one's.
func (l *Loader) Add(o *Object) error {
	if o.Key <= l.last {
		return fmt.Errorf("key %q after %q: %w", o.Key, l.last, errLoad)
	}
	if o.Version > l.tree.changed {
		return fmt.Errorf("key %q of version %d, when no object had changed after %d: %w", o.Key, o.Version, l.tree.changed, errLoad)
	}
	l.last = o.Key
	l.tree.objects.Load(o.Key, o)
	l.tree.bytes += uint64(o.Size())
	return nil
}

// Tree returns the finished tree. The loader must not be used afterwards.
func (l *Loader) Tree() *Tree {
	// The two halves of a split node share an array, through which one half, if it never changes,
	// would keep objects in memory that have been replaced in the other. A mutable scan of a copy
	// gives each node its own array.
	l.tree.objects = l.tree.objects.Copy()
	l.tree.objects.ScanMut(func(Key, *Object) bool { return true })
	return l.tree
}
