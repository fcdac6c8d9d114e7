package gossip

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/memberlist"
)

// Meta is what a node announces about itself. Messages that report a node as alive contain it, so
// its names are short and its size is bounded.
type Meta struct {
	Name   string `json:"n"`
	NodeID string `json:"i"`
	Start  uint64 `json:"s"` // counts the starts of this node
	Nonce  string `json:"r"` // differs even between copies of one data directory
	// Cluster is the id of the cluster that the node belongs to, or is waiting to be added to;
	// empty before it knows one.
	Cluster string `json:"c,omitempty"`
	// Member is true once the node has Raft state.
	Member   bool   `json:"m,omitempty"`
	APIAddr  string `json:"a"`
	PeerAddr string `json:"p"`
	Expect   int    `json:"e,omitempty"` // bootstrap-expect
	NonVoter bool   `json:"v,omitempty"`
	Leaving  bool   `json:"l,omitempty"` // is ending its membership
	Build    string `json:"b,omitempty"`
}

// longestClusterID reserves space for a cluster id that is not known yet.
const longestClusterID = "00000000-0000-0000-0000-000000000000"

func (m Meta) encode() ([]byte, error) {
	data, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode node meta: %w", err)
	}
	if len(data) > memberlist.MetaMaxSize {
		return nil, fmt.Errorf("name, addresses and build take %d bytes of gossip meta, %d too many: shorten them",
			len(data), len(data)-memberlist.MetaMaxSize)
	}
	return data, nil
}

// fits returns an error if the meta would be too large once every field is set.
func (m Meta) fits() error {
	m.Cluster, m.Member, m.Leaving, m.NonVoter = longestClusterID, true, true, true
	_, err := m.encode()
	return err
}

func decodeMeta(data []byte) (Meta, error) {
	var m Meta
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("its node meta is not readable: %w", err)
	}
	if m.Name == "" || m.NodeID == "" || m.PeerAddr == "" {
		return m, fmt.Errorf("its node meta is not complete")
	}
	return m, nil
}

// gossipName returns the memberlist name of one start of a node.
func (m Meta) gossipName() string {
	return fmt.Sprintf("%s/%s/%d-%s", m.Name, m.NodeID[max(0, len(m.NodeID)-12):], m.Start, m.Nonce)
}

// newer reports whether a is a later start than b of the same node.
func newer(a, b Meta) bool {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Nonce, b.Nonce)) > 0
}
