// Package rest serves objects: create, get, list, watch, replace and delete for every kind of the catalog (specification §4).
//
// Reads are walks over an immutable state and write the stored bytes as they are. Writes decode once, decide, and hand one
// command to the store; what they decide from this node's state, which may be stale, is decided again from a confirmed one
// before a client is refused. The package has no goroutines.
package rest
