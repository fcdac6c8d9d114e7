// Package rest serves objects: create, get, list, watch, replace, patch and delete for every kind
// of the catalog, and the subresources status, finalize and scale (specification §4).
//
// Reads walk an immutable state and write the stored bytes unchanged, unless the client asks for a
// Table or for metadata only (representation). Writes decode once, decide, and give one command to
// the store. A refusal that was decided from this node's state, which may be stale, is decided
// again from a confirmed state. All writes of an existing object share one loop (update) and differ
// in how they derive the new object from the stored one.
//
// A list with more objects than its limit reads a state that all nodes retain
// (raftstore.Store.Pin), so that each of them can serve the next page for ten minutes; the continue
// value names the state and the position (package paging). The limit also holds for
// resourceVersion=0 and N (C32, Z6). Those lists need no leader: if none answers soon, only this
// node retains the state and others fetch pages from it.
//
// The package has no goroutines.
package rest
