package mixture

import (
	"sync"

	"quorate/chaos/client"
	"quorate/chaos/workload"
)

const (
	// sharedLanes is the number of connections that all ordinary watches of a node share.
	sharedLanes = 2
	// The flow-control windows of slow readers, in bytes.
	slowStreamBytes, slowConnectionBytes = 16 << 10, 256 << 10
)

// node holds the clients of one node.
type node struct {
	workload.Target
	shared *client.Client // watches
	slow   *client.Client // watches of slow readers
	own    *client.Client // references and writers
}

// connections holds the clients of all nodes, including former ones.
type connections struct {
	targets *workload.Targets

	mu    sync.Mutex
	nodes map[*client.Client]*node // by the client of the target; guarded by mu
}

func newConnections(targets *workload.Targets) *connections {
	return &connections{targets: targets, nodes: map[*client.Client]*node{}}
}

// all returns the current nodes.
func (c *connections) all() []*node {
	targets := c.targets.All()
	nodes := make([]*node, len(targets))
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, target := range targets {
		one := c.nodes[target.Client]
		if one == nil || one.Name != target.Name {
			one = &node{
				Target: target,
				shared: target.Client.Apart(sharedLanes, client.Window{}),
				slow:   target.Client.Apart(1, client.Window{Stream: slowStreamBytes, Connection: slowConnectionBytes}),
				own:    target.Client.Apart(1, client.Window{}),
			}
			if old := c.nodes[target.Client]; old != nil {
				old.close()
			}
			c.nodes[target.Client] = one
		}
		nodes[i] = one
	}
	return nodes
}

func (n *node) close() {
	for _, one := range []*client.Client{n.shared, n.slow, n.own} {
		one.Close()
	}
}

// close ends all connections.
func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.nodes {
		one.close()
	}
}
