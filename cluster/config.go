package cluster

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	"quorate/cluster/bootstrap"
	"quorate/cluster/keys"
	"quorate/cluster/roster"
	"quorate/cluster/voters"
	"quorate/raftstore"
)

// maxScale keeps timeouts within what an operator would wait for.
const maxScale = 100

// Store is what this package needs of raftstore.
type Store interface {
	bootstrapStore
	leaderStore
	// Alarms are what is wrong with this node and, as far as it knows, with others.
	Alarms() []raftstore.Alarm
	// Applied is the index that this node's state has reached.
	Applied() uint64
	// Snapshot writes a snapshot of this node's state now.
	Snapshot() (id string, index uint64, err error)
}

type bootstrapStore interface {
	bootstrap.Store // state of its own, and the first configuration
	// ClusterID is empty until the first leader's first entry has been applied here.
	ClusterID() string
}

type leaderStore interface {
	voters.Store // what the leader changes the configuration with
	Leader() (name string, ok bool)
	Term() uint64
	// SinceContact is how long ago this node heard of the leader, if it ever did.
	SinceContact() (time.Duration, bool)
	// TransferLeadership hands over to name, or to whom Raft chooses when it is empty.
	TransferLeadership(name string) error
}

// Config is all that a Cluster needs. It is not changed after New.
type Config struct {
	DataDir string // holds bootstrap.json
	Roster  *roster.Roster
	Key     *keys.Key
	Store   Store
	// Connect makes a gRPC client of the node at a peer address: transport.Mux.Connect.
	Connect func(name, peerAddr string, options ...grpc.DialOption) (*grpc.ClientConn, error)

	APIAddr  string // host:port that clients reach this node at, told to the others
	PeerAddr string // host:port of Raft and gRPC, told to the others

	GossipAddr    string // host:port to listen on
	AdvertiseHost string // what others dial in place of GossipAddr's host; may be a DNS name

	Join            []string // gossip addresses, host:port, of any members
	BootstrapExpect int      // how many empty nodes make the first cluster; 1 without Join starts one at once
	NonVoter        bool     // this node is to stay a read replica

	WAN          bool    // gossip for links between sites
	TimeoutScale float64 // the multiplier of Raft's timeouts, applied to gossip and voters too; 0 is 1

	// DeadServerAfter is how long a member must be unreachable before it is removed; 0 is never.
	DeadServerAfter time.Duration

	Build      string // version of this binary, told to the others
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// PeerTLS is the peer certificate's configuration for the node that a roster describes: the roster
// decides who is let in.
func PeerTLS(r *roster.Roster) keys.PeerConfig {
	self := r.Self()
	return keys.PeerConfig{
		Self:  keys.Peer{Name: self.Name, NodeID: self.NodeID},
		Admit: func(p keys.Peer) error { return r.Admit(p.Name, p.NodeID) },
	}
}

func (c *Config) validate() error {
	if c.Roster == nil || c.Key == nil || c.Connect == nil || c.Store == nil || c.Logger == nil || c.Registerer == nil {
		return errors.New("cluster: roster, key, connect, store, logger and registerer are all needed")
	}
	if c.BootstrapExpect < 1 {
		return fmt.Errorf("bootstrap-expect is %d: want at least 1", c.BootstrapExpect)
	}
	if c.TimeoutScale == 0 {
		c.TimeoutScale = 1
	}
	if c.TimeoutScale < 0 || c.TimeoutScale > maxScale {
		return fmt.Errorf("timeout scale is %g: want more than 0, at most %d", c.TimeoutScale, maxScale)
	}
	for _, addr := range append([]string{c.APIAddr, c.PeerAddr, c.GossipAddr}, c.Join...) {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return fmt.Errorf("address %q: want host:port", addr)
		}
	}
	return nil
}

// selfBootstrap: a node that was given nobody to join and expects nobody is its own cluster.
func (c *Config) selfBootstrap() bool { return c.BootstrapExpect == 1 && len(c.Join) == 0 }
