// Package rest serves objects: create, get, list, watch, replace, patch and delete for every kind of the catalog, and
// the subresources status, finalize and scale (specification §4).
//
// Reads are walks over an immutable state and write the stored bytes as they are, unless the client wants something else made of
// them: a Table, or nothing but metadata (representation). Writes decode once, decide, and hand one
// command to the store; what they decide from this node's state, which may be stale, is decided again from a confirmed one
// before a client is refused. All writes of an object that is there are one loop (update); they differ in how the new object is
// derived from the stored one.
//
// A list that has more than its limit is of a state that all nodes keep (raftstore.Store.Pin), so that any of them gives the
// next page for ten minutes; `continue` says which state and where (package paging). The limit is honoured for resourceVersion=0
// and N too (C32, Z6). Those lists need no leader: when none answers at once, the state is kept on this node alone, and others ask it.
//
// The package has no goroutines.
package rest
