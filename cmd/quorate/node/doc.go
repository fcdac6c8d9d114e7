// Package node builds one running node from its components (peer address, store, cluster, API) and
// ends it in order. It has no other logic: flags come from package settings, files from package
// datadir.
//
// Run owns every goroutine: the Run of each component, and one that waits for readiness. It returns
// after all of them have.
package node
