// Package node builds a node from its components (peer address, store, cluster, API), runs them and
// shuts them down in order. It also sets the memory limit of the process, waits for disk space
// before the first start, renews the administrator's credentials, and announces readiness. Flags
// come from package settings, files from package datadir.
//
// Run owns every goroutine that the node starts: the Run of each component, the gRPC server of its
// peers, the renewal of credentials, and the wait for readiness. It returns after all of them have.
package node
