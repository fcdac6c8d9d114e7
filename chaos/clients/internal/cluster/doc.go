// Package cluster runs real nodes for tests with stock clients: the server as it ships, one process
// a node. Each test that starts a cluster owns it; its processes end with the test.
package cluster
