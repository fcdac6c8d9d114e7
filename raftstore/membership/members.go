package membership

import (
	"slices"

	"github.com/hashicorp/raft"
)

// Members reads and changes the servers of the cluster. All methods are safe for concurrent use.
type Members struct {
	cfg Config
}

// Config configures Members; only AddressOf may be nil.
type Config struct {
	// Name is this node's name: Raft's server id.
	Name string
	Raft *raft.Raft
	// AddressOf returns a member's current peer address, if gossip knows it; otherwise Members uses
	// the address in Raft's configuration.
	AddressOf func(name string) (addr string, ok bool)
	// ClusterID returns the cluster's id, "" while this node does not know it.
	ClusterID func() string
}

// New returns the Members of a cluster.
func New(cfg Config) *Members { return &Members{cfg: cfg} }

// Name returns this node's name.
func (m *Members) Name() string { return m.cfg.Name }

// ClusterID returns the cluster's id, "" while this node does not know it.
func (m *Members) ClusterID() string { return m.cfg.ClusterID() }

// Servers returns the servers in Raft's latest configuration, which may not be committed yet.
func (m *Members) Servers() []raft.Server {
	return slices.Clone(m.configured()) // the library's slice is shared
}

func (m *Members) configured() []raft.Server {
	return m.cfg.Raft.GetConfiguration().Configuration().Servers
}

// Contains reports whether the configuration has a server of this name.
func (m *Members) Contains(name string) bool {
	return slices.ContainsFunc(m.configured(), func(s raft.Server) bool { return string(s.ID) == name })
}

// IsNonvoter reports whether the configuration has a server of this name that does not vote.
func (m *Members) IsNonvoter(id raft.ServerID) bool {
	return slices.ContainsFunc(m.configured(), func(s raft.Server) bool { return s.ID == id && s.Suffrage != raft.Voter })
}

// Others returns all servers except this node.
func (m *Members) Others() (others []raft.Server) {
	for _, server := range m.configured() {
		if string(server.ID) != m.cfg.Name {
			others = append(others, server)
		}
	}
	return others
}

// OtherVoters returns the voters except this node. voter reports whether this node is one.
func (m *Members) OtherVoters() (others []raft.Server, voter bool) {
	for _, server := range m.configured() {
		switch {
		case server.Suffrage != raft.Voter:
		case string(server.ID) == m.cfg.Name:
			voter = true
		default:
			others = append(others, server)
		}
	}
	return others, voter
}

// Alone reports whether no other server votes.
func (m *Members) Alone() bool {
	return !slices.ContainsFunc(m.configured(), func(s raft.Server) bool {
		return s.Suffrage == raft.Voter && string(s.ID) != m.cfg.Name
	})
}

// Voters returns the number of voters.
func (m *Members) Voters() int {
	others, voter := m.OtherVoters()
	if voter {
		return len(others) + 1
	}
	return len(others)
}

// AddressOf returns the current peer address of a server.
func (m *Members) AddressOf(server raft.Server) string {
	return m.currentAddress(string(server.ID), string(server.Address))
}

// Leader returns the leader's name and peer address, if this node knows them.
func (m *Members) Leader() (name, address string, known bool) {
	addr, id := m.cfg.Raft.LeaderWithID()
	if id == "" {
		return "", "", false
	}
	return string(id), m.currentAddress(string(id), string(addr)), true
}

func (m *Members) currentAddress(name, configured string) string {
	if m.cfg.AddressOf != nil {
		if current, ok := m.cfg.AddressOf(name); ok {
			return current
		}
	}
	return configured
}
