// Package state holds the replicated state: an ordered tree of immutable objects, copied on write.
//
// A Tree belongs to the goroutine that applies the log; no other goroutine may use it. That
// goroutine publishes a Root after each batch of entries. Any number of goroutines may read Roots,
// without locks or allocations, while the tree changes. A Root never changes, so a snapshot, a
// consistent paged list and a backup each need only a pointer to one. Returned bytes are shared:
// callers must not write to them.
//
// Invariants:
//   - An Object, its Value and its attributes never change once the object is in a tree. The digits
//     of Version are in Value at VersionOffset.
//   - The index of a tree only increases; applying entries out of order panics.
//   - The content of a tree depends only on the applied entries. Trees may differ in which of their
//     strings share memory.
//   - Failed lists every entry above its Floor, up to the root's index, whose precondition did not
//     hold. The number of failures that it remembers is bounded by a constant, which is part of the
//     replicated behavior.
//
// The tree is a btree.Map rather than a btree.BTreeG, because a btree.Map compares the keys in its
// nodes without a function call, looks up a key without an object to compare with, and has no
// locks. Each batch copies the nodes on the paths that it touches. When a node splits, its two
// halves share an array until a later batch writes to one of them. Until then, the other half may
// keep a replaced version of an object in memory; Loader leaves no shared arrays.
//
// Retainer keeps roots for paged reads, within bounds of number, age and memory. It is the only
// type with a lock and is safe for concurrent use. The package has no goroutines.
package state
