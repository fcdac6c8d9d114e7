// Package cluster runs real nodes for tests with stock clients: the released server, one process
// per node. Each cluster belongs to the test that starts it, and its processes end with the test.
package cluster
