package cluster

import (
	"time"

	"quorate/cluster/bootstrap"
	"quorate/cluster/gossip"
	"quorate/cluster/voters"
)

// Conversions of what gossip reports to the types of the other packages.

func (c *Cluster) server() bootstrap.Server {
	return bootstrap.Server{Name: c.self.Name, NodeID: c.self.NodeID, PeerAddr: c.cfg.PeerAddr}
}

func (c *Cluster) node(m gossip.Meta) bootstrap.Node {
	return bootstrap.Node{
		Server:  bootstrap.Server{Name: m.Name, NodeID: m.NodeID, PeerAddr: m.PeerAddr},
		Cluster: m.Cluster, Member: m.Member, Expect: m.Expect, Voter: !m.NonVoter,
	}
}

func (c *Cluster) liveNodes() []bootstrap.Node {
	var nodes []bootstrap.Node
	for _, m := range c.gossip.Members() {
		if m.Alive {
			nodes = append(nodes, c.node(m.Meta))
		}
	}
	return nodes
}

func (c *Cluster) voterView() []voters.Member {
	self := c.gossip.Self()
	all := []voters.Member{c.voter(gossip.Member{Meta: self, Alive: true})}
	for _, m := range c.gossip.Members() {
		all = append(all, c.voter(m))
	}
	return all
}

func (c *Cluster) voter(m gossip.Member) voters.Member {
	owner, _ := c.cfg.Roster.Owner(m.Name)
	return voters.Member{
		Name: m.Name, NodeID: m.NodeID, Start: m.Start, PeerAddr: m.PeerAddr, Cluster: m.Cluster, Owner: owner == m.NodeID,
		Alive: m.Alive, Since: m.Since, Leaving: m.Leaving, NonVoter: m.NonVoter,
	}
}

// minVoters returns the largest --bootstrap-expect of the living members: the removal of dead
// servers leaves no fewer voters.
func (c *Cluster) minVoters() int {
	least := c.cfg.BootstrapExpect
	for _, m := range c.gossip.Members() {
		if m.Alive {
			least = max(least, m.Expect)
		}
	}
	return least
}

// callTimeout bounds one call of another node.
func (c *Cluster) callTimeout() time.Duration {
	return max(time.Duration(float64(callTimeout)*c.cfg.TimeoutScale), minCallTimeout)
}
