// Package rbac says what roles and their bindings allow (semantics J18–J37): whether a user may do
// something and why, whether a user may grant something, and which roles and bindings every cluster
// has.
//
// The roles and bindings of this node's state are compiled into an index: from subjects to their
// bindings, and from names to roles. It never changes; a newer one shares with it what has not.
// Decisions read the newest through one pointer, take no lock and allocate nothing. One goroutine
// makes the next from the changes of the four collections in the order of the log, so that no
// decision mixes what was never true at one moment.
//
// Another node's writes count here when they are applied here (J37); a write through this node is
// acknowledged after it counts. Nothing is decided for others than system:masters before the index
// holds what was committed when the server started. What allows to grant is decided from a
// confirmed state.
//
// Run owns the goroutine that makes the index, one for each collection that tells it of changes,
// and one that makes the built-in roles and bindings while this node leads.
package rbac
