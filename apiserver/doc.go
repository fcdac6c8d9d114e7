// Package apiserver implements the REST API of a node: it authenticates, routes, reads and writes
// objects through a replicated store and streams their changes.
//
// It owns the listener and every request goroutine. New builds a server and starts nothing. Run
// serves until its context ends and then shuts down in this order: the node is not ready, the
// listener stops accepting, watches end with their last events, and pending requests finish, or are
// aborted after Limits.ShutdownGrace. The package knows nothing of Raft: it sees the Store and
// admin.Cluster interfaces.
//
// Comments cite the rules of the API by short ids, such as C36 or §4.4: specification/ROWS.md
// states each rule in words.
package apiserver
