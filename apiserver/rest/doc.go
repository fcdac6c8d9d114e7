// Package rest serves objects: create, get, list, watch, replace, patch and delete for every kind
// of the catalog, and the subresources status, finalize and scale (specification §4).
//
// Reads walk an immutable state and write the stored bytes unchanged, unless the client asks for
// another form, such as protobuf, a Table or metadata only (representation). Writes decode the body
// once and send one command to the store. An error that was decided from this node's state, which
// may be stale, is checked again with a confirmed state before it is returned. Replaces, patches
// and applies share one loop (update); they differ in how they derive the new object from the
// stored one.
//
// A list with more objects than its limit reads a state that all nodes retain
// (raftstore.Store.Pin), so that each of them can serve the next page for ten minutes. The continue
// value identifies the state and the position (package paging). The limit also applies to lists
// with resourceVersion=0 or N (C32, Z6). These lists do not require a leader: if none responds in
// time, only this node retains the state, and other nodes fetch pages from it.
//
// The package starts no goroutines but those of a delete of a collection, which waits for them.
package rest
