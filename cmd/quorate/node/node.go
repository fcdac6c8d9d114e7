package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	"quorate/apiserver"
	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/fairness"
	"quorate/apiserver/access/reload"
	"quorate/apiserver/access/requestlog"
	"quorate/cluster"
	"quorate/cluster/keys"
	"quorate/cluster/roster"
	"quorate/cmd/quorate/datadir"
	"quorate/cmd/quorate/logsink"
	"quorate/cmd/quorate/schedule"
	"quorate/cmd/quorate/settings"
	"quorate/raftstore"
	"quorate/raftstore/transport"
)

// Build identifies the build that runs.
type Build struct {
	Version string // vMAJOR.MINOR.PATCH...
	Commit  string
	Date    string // RFC 3339, of the commit
	// TreeState is "clean" if the sources were those of the commit, "dirty" if not, empty if
	// unknown.
	TreeState string
}

// Config is the configuration of a node.
type Config struct {
	Settings settings.Settings
	Key      *keys.Key // given by the operator; nil if none
	Build    Build
	// Getenv looks up variables that the Go runtime reads too (GOGC).
	Getenv         func(string) (string, bool)
	Stdout, Stderr io.Writer
}

// Node is one node, built and not started.
type Node struct {
	cfg      Config
	logs     *logs
	logger   *slog.Logger // that of the process
	registry *prometheus.Registry

	dir         *datadir.Dir
	authority   *keys.Authority
	roster      *roster.Roster
	credentials *credentials
	peers       *transport.Mux
	rpc         *grpc.Server
	store       *raftstore.Store
	cluster     *cluster.Cluster
	api         *apiserver.Server
	apiAddr     string // for clients on other machines
	levels      []fairness.Level
	levelsFile  *reload.File // nil without --fairness-file
	operations  *operations
	schedule    *schedule.Scheduler // nil without --backup-schedule
	// closers release what New opened; they are called in this order.
	closers []func() error
}

// New opens the data directory and every address, so that their errors are returned before anything
// runs.
func New(cfg Config) (*Node, error) {
	n := &Node{cfg: cfg, registry: newRegistry(cfg)}
	n.logs = newLogs(cfg.Stderr, cfg.Settings.Log, logsink.NewMetrics(n.registry))
	n.logger = n.logs.logger
	n.operations = newOperations(cfg, newMetrics(n.registry))
	if err := n.open(); err != nil {
		return nil, errors.Join(err, n.abandon(), n.logs.close())
	}
	return n, nil
}

// abandon releases what open acquired before it failed.
func (n *Node) abandon() error {
	var errs []error
	if n.api != nil {
		errs = append(errs, n.api.Close()) // a caller that waits for space tries again, with the same address
	}
	if n.store != nil {
		errs = append(errs, n.store.Close())
	}
	if n.peers != nil {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		errs = append(errs, n.peers.Run(over)) // closes its listener
	}
	return errors.Join(append(errs, n.closeFiles())...)
}

func (n *Node) open() error {
	s := &n.cfg.Settings
	var err error
	if s.API.FairnessFile != "" { // before anything is written
		n.levelsFile = reload.Open(s.API.FairnessFile)
		if n.levels, err = fairness.Load(s.API.FairnessFile); err != nil {
			return fmt.Errorf("--fairness-file: %w", err)
		}
	}
	n.dir, err = datadir.Open(datadir.Config{Path: s.DataDir, Name: s.Name, Key: n.cfg.Key, Found: len(s.Join) == 0})
	if err != nil {
		return err
	}
	n.closers = append(n.closers, n.dir.Close)
	if mode, writable, err := n.dir.WritableByOthers(); err != nil {
		return err
	} else if writable {
		n.logger.Warn("others can write to the data directory, and so replace the cluster key: run chmod 700 "+s.DataDir,
			"mode", fmt.Sprintf("%04o", mode))
	}
	if n.authority, err = n.dir.Key().Authority(); err != nil {
		return err
	}
	reach, err := advertised(s.Listen)
	if err != nil {
		return err
	}
	if err := n.logs.openRequests(n.cfg.Stdout, s.Audit); err != nil {
		return err
	}
	if err := n.openPeers(reach); err != nil {
		return err
	}
	if err := n.openAPI(reach); err != nil {
		return err
	}
	return n.openCluster(reach)
}

// openPeers opens the peer address and the store that is reached at it.
func (n *Node) openPeers(reach addresses) error {
	s := &n.cfg.Settings
	var err error
	if n.roster, err = roster.Open(s.DataDir, s.Name, n.dir.NodeID()); err != nil {
		return err
	}
	if err := n.roster.Barred(); err != nil { // before an address is bound that its successor may use
		return fmt.Errorf("%s can't start with the data directory %s: %w (keep its cluster.key, if it has one)", s.Name, s.DataDir, err)
	}
	certificate, err := n.authority.PeerTLS(cluster.PeerTLS(n.roster))
	if err != nil {
		return err
	}
	advertise := ""
	if reach.host != "" {
		advertise = reach.of(s.Listen.Peer)
	}
	n.peers, err = transport.Listen(transport.Config{
		Addr: s.Listen.Peer, Advertise: advertise, TLS: certificate.Config(), Members: n.roster.PeerAddrs,
		Logger: n.logger.With("component", "peer"), Registerer: n.registry,
	})
	if err != nil {
		return listenError("--peer-addr", s.Listen.Peer, err)
	}
	claim, err := n.logs.claim(s.DataDir)
	if err != nil {
		return err
	}
	n.rpc = grpc.NewServer(transport.ServerOptions()...)
	objects, err := s.Store.Quotas()
	if err != nil {
		return err
	}
	n.store, err = raftstore.Open(raftstore.Config{
		Name: s.Name, DataDir: s.DataDir, Peers: n.peers, Registrar: n.rpc, AddressOf: n.roster.PeerAddr,
		RaftMultiplier: s.TimeoutScale, LogBytes: s.Store.LogBytes, LogAge: s.Store.LogAge, HistoryBytes: s.Store.HistoryBytes,
		DiskReserve: s.Store.DiskReserve, DiskClaim: claim, SnapshotRate: s.Store.SnapshotRate,
		Quota:  raftstore.Quota{StateBytes: uint64(s.Store.MaxBytes), Objects: objects},
		Logger: n.logger, Registerer: n.registry,
	})
	if err != nil {
		return err
	}
	return n.roster.Settle(n.store.ClusterID()) // before other nodes are heard: the peer address serves from Run on
}

func (n *Node) openAPI(reach addresses) error {
	s := &n.cfg.Settings
	bindHost, _, err := net.SplitHostPort(s.Listen.API)
	if err != nil {
		return fmt.Errorf("--api-addr: %w", err)
	}
	config, err := n.authority.APIServer(bindHost, s.Name, reach.host, localName)
	if err != nil {
		return err
	}
	if err := supplied(config, s.API); err != nil {
		return err
	}
	registerCertificate(n.registry, config)
	key := n.dir.Key().TokenSigning()
	n.api, err = apiserver.New(apiserver.Config{
		Addr: s.Listen.API, AdvertiseAddr: reach.of(s.Listen.API), TLS: config, Store: n.store, Cluster: n.operations,
		SigningKey: key, TokenFile: s.API.TokenFile, QuorumRead: s.API.QuorumRead, ReportedVersion: s.API.ReportedVersion,
		Logger: n.logger.With("component", "api"), RequestLogger: n.logs.requests, RequestPolicy: requestlog.Policy(s.API.RequestLog),
		AuditPolicy: n.logs.policy, AuditPolicyFile: n.logs.policyFile, AuditSinks: n.logs.sinks,
		Registerer: n.registry, Gatherer: n.registry,
		EventTTL: s.API.EventTTL,
		Limits:   limits(s.API),
		Levels:   n.levels, LevelsFile: n.levelsFile,
		Build: apiserver.Build(n.cfg.Build),
	})
	if err != nil {
		return err
	}
	bound, err := n.api.Listen()
	if err != nil {
		return listenError("--api-addr", s.Listen.API, err)
	}
	n.credentials = &credentials{
		logger: n.logger, dir: n.dir, name: s.Name, ca: n.authority.CertificatePEM(), issuer: auth.NewIssuer(key),
		server: "https://" + local(bound.String()),
	}
	if s.API.CertFile != "" {
		n.credentials.serverName = localName
	}
	n.apiAddr = reach.of(bound.String())
	n.credentials.load()
	return n.credentials.write()
}

// openCluster opens the membership. It comes last, because it advertises the addresses of the other
// components.
func (n *Node) openCluster(reach addresses) error {
	s := &n.cfg.Settings
	if err := probe("--gossip-addr", s.Listen.Gossip); err != nil {
		return err
	}
	var err error
	n.cluster, err = cluster.New(cluster.Config{
		DataDir: s.DataDir, Roster: n.roster, Key: n.dir.Key(), Store: n.store, Connect: n.peers.Connect,
		APIAddr: n.apiAddr, PeerAddr: n.peers.Addr().String(), GossipAddr: s.Listen.Gossip, AdvertiseHost: reach.host,
		Join: s.Join, BootstrapExpect: s.Expect, NonVoter: !s.Voter, TimeoutScale: s.TimeoutScale, DeadServerAfter: s.DeadServerAfter,
		Build: n.cfg.Build.Version, Logger: n.logger.With("component", "cluster"), Registerer: n.registry,
	})
	if err != nil {
		return err
	}
	n.cluster.Register(n.rpc)
	n.operations.cluster, n.operations.store = n.cluster, n.store
	n.credentials.known = n.cluster.Known
	return n.openSchedule()
}

// closeFiles releases what New opened, after all components have ended.
func (n *Node) closeFiles() error {
	var errs []error
	for _, release := range n.closers {
		errs = append(errs, release())
	}
	n.closers = nil
	return errors.Join(errs...)
}

// kubectl returns a kubectl command line that works on this machine.
func (n *Node) kubectl() string {
	return fmt.Sprintf("kubectl --kubeconfig %s get namespaces", n.dir.Path(datadir.KubeconfigFile))
}

// Server returns the URL of the API for this machine.
func (n *Node) Server() string { return n.credentials.server }
