// Package state holds the replicated state: an ordered tree of immutable objects, copied on write.
//
// A Tree belongs to one goroutine, the one that applies the log: it alone reads and changes it, and once for each batch of
// entries it publishes a Root. Roots belong to everybody: any number of goroutines read them without locks or allocations
// while the tree moves on. A Root never changes, so a snapshot, a consistent paged list and a backup are each a pointer to one.
// Bytes handed out are shared: nobody may write to them.
//
// Invariants:
//   - An Object, its Value and its attributes never change once the object is in a tree. The digits of Version stand in Value
//     at VersionOffset.
//   - The index of a tree only rises; entries applied out of order panic.
//   - What a tree holds depends on the entries applied alone, but for what makes strings share memory.
//   - Failed lists every entry above its Floor, up to the root's index, that changed nothing because its preconditions did not
//     hold. How many are remembered is a constant of the replicated behaviour.
//
// The tree is a btree.Map rather than a btree.BTreeG: it compares keys that stand in its nodes without a function call, a
// lookup needs no object to compare with, and it has no locks. One copy per batch costs the nodes on the paths that the batch
// touches. Two nodes that came of one split share an array until one of them is written to in a later batch, so at most one
// replaced version of an object can live on in a neighbour; Loader leaves no such pairs.
//
// Retainer keeps roots that paged reads return to, within bounds of number, age and memory. It is the only part with a lock and
// may be used by anyone. The package has no goroutines.
package state
