// Package rest serves objects: create, get, list, watch, replace, patch and delete for every kind of the catalog, and
// the subresources status and finalize (specification §4).
//
// Reads are walks over an immutable state and write the stored bytes as they are. Writes decode once, decide, and hand one
// command to the store; what they decide from this node's state, which may be stale, is decided again from a confirmed one
// before a client is refused. All writes of an object that is there are one loop (update); they differ in how the new object is
// derived from the stored one. The package has no goroutines.
package rest
