// Package node builds a node from its components (peer address, store, cluster, API), runs them and
// shuts them down in order. It also sets the target of the garbage collector, waits for space on a
// full disk when the node starts, keeps the administrator's credentials fresh, and logs when the
// node is ready. Flags come from package settings, files from package datadir.
//
// Run owns every goroutine that the node starts: the Run of each component, the gRPC server of its
// peers, the renewal of credentials, and the wait for readiness. It returns after all of them have.
package node
