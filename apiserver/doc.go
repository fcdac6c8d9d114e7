// Package apiserver implements the REST API of a node: it authenticates, routes, reads and writes
// objects through a replicated store and streams their changes.
//
// New builds a server and starts nothing. Run serves requests and runs the controllers until its
// context ends. It then makes the node not ready, stops accepting connections, refuses the requests
// that wait for seats, ends the watches with their last events, and waits for the pending requests.
// What has not ended after Limits.ShutdownGrace is aborted. The package calls the replicated store
// and the cluster only through the interfaces Store and admin.Cluster.
//
// Comments cite the rules of the API by short ids, such as C36 or §4.4: specification/ROWS.md
// states each rule in words.
package apiserver
