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

// maxScale bounds TimeoutScale, so that timeouts stay below what an operator would wait for.
const maxScale = 100

// Store is what this package needs of raftstore.
type Store interface {
	bootstrapStore
	leaderStore
	// Alarms returns the alarms of this node about itself and others.
	Alarms() []raftstore.Alarm
	// Applied returns the index of the last entry applied here.
	Applied() uint64
	// Positions returns where this node's log stands.
	Positions() raftstore.Positions
	// DiskFree returns the free bytes on the disk of the data directory. known is false before they
	// were measured.
	DiskFree() (bytes int64, known bool)
	// Snapshot writes a snapshot of this node's state now.
	Snapshot() (id string, index uint64, err error)
}

type bootstrapStore interface {
	bootstrap.Store // whether this node has state, and the first configuration
	// ClusterID is empty until the first leader's first entry has been applied here.
	ClusterID() string
}

type leaderStore interface {
	voters.Store // changes of the configuration, by the leader
	Leader() (name string, ok bool)
	Term() uint64
	// SinceContact returns the time since the last contact with the leader; false if there was
	// none.
	SinceContact() (time.Duration, bool)
	// Refuse returns an error if this node has known no leader for longer than an election takes.
	Refuse() error
	// TransferLeadership transfers leadership to name, or to a voter that Raft chooses if name is
	// "".
	TransferLeadership(name string) error
}

// Config is all that a Cluster needs. It is not changed after New.
type Config struct {
	DataDir string // holds bootstrap.json and gossip.json
	Roster  *roster.Roster
	Key     *keys.Key
	Store   Store
	// Connect makes a gRPC client of the node at a peer address: transport.Mux.Connect.
	Connect func(name, peerAddr string, options ...grpc.DialOption) (*grpc.ClientConn, error)

	APIAddr  string // host:port at which clients reach this node, announced to the others
	PeerAddr string // host:port of Raft and gRPC, announced to the others

	GossipAddr    string // host:port to listen on
	AdvertiseHost string // what others dial in place of GossipAddr's host; may be a DNS name

	Join            []string // gossip addresses, host:port, of any members
	BootstrapExpect int      // how many empty nodes form the first cluster; 1 without Join forms it alone
	NonVoter        bool     // this node stays a non-voter

	WAN          bool    // gossip for links between sites
	TimeoutScale float64 // the multiplier of Raft's timeouts, applied to gossip and voters too; 0 is 1

	// DeadServerAfter is how long a member must be unreachable before it is removed; 0 is never.
	DeadServerAfter time.Duration

	Build      string // version of this binary, announced to the others
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// PeerTLS returns the configuration of the peer certificate of a roster's node. The roster admits
// peers.
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

// selfBootstrap reports whether this node forms a cluster alone: it has no address to join, and
// expects no other server.
func (c *Config) selfBootstrap() bool { return c.BootstrapExpect == 1 && len(c.Join) == 0 }
