package record

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"go.uber.org/goleak"

	"quorate/raftstore/transport"
)

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		if err := child(os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m,
		// What TestEndlessTransferEndsNode provokes: these wait for ever.
		goleak.IgnoreAnyFunction("github.com/hashicorp/raft.(*Raft).leadershipTransfer"),
		goleak.IgnoreAnyFunction("github.com/hashicorp/raft.(*Raft).leaderLoop.func2"),
	)
}

// patience bounds every wait for something that must happen.
const patience = 2 * time.Minute

// rpcTimeout is the library's default.
const rpcTimeout = 10 * time.Second

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	if !within(patience, condition) {
		t.Fatalf("not within %s: %s", patience, what)
	}
}

// within reports whether a condition comes true in time.
func within(d time.Duration, condition func() bool) bool {
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(d); time.Now().Before(deadline); <-ticker.C {
		if condition() {
			return true
		}
	}
	return condition()
}

// network makes the transports of one test, all of one kind.
type network struct {
	t     *testing.T
	stock bool
	pool  *x509.CertPool
	ca    *x509.Certificate
	key   *ecdsa.PrivateKey
}

// kinds runs a test on the library as it comes and with our parts.
func kinds(t *testing.T, test func(t *testing.T, n *network)) {
	t.Run("stock", func(t *testing.T) { test(t, newNetwork(t, true)) })
	t.Run("quorate", func(t *testing.T) { test(t, newNetwork(t, false)) })
}

func newNetwork(t *testing.T, stock bool) *network {
	t.Helper()
	n := &network{t: t, stock: stock, pool: x509.NewCertPool()}
	var err error
	if n.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	n.ca = n.certify(&x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, nil, n.key)
	n.pool.AddCert(n.ca)
	return n
}

// certify signs a certificate; a nil parent makes it its own.
func (n *network) certify(template, parent *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	n.t.Helper()
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, n.key)
	if err != nil {
		n.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		n.t.Fatal(err)
	}
	return cert
}

// mux listens on a peer address until the test ends.
func (n *network) mux(name string) *transport.Mux {
	n.t.Helper()
	cert := n.certify(&x509.Certificate{
		URIs: []*url.URL{transport.PeerURI(name)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}, n.ca, n.key)
	m, err := transport.Listen(transport.Config{
		Addr: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler),
		TLS: &tls.Config{
			Certificates: []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: n.key}}, RootCAs: n.pool,
		},
	})
	if err != nil {
		n.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	n.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			n.t.Error(err)
		}
	})
	return m
}

// peerTransport is what both kinds of transport are.
type peerTransport interface {
	raft.Transport
	raft.WithPreVote
	raft.WithClose
}

// transport makes one of the network's kind. It is closed with the test.
func (n *network) transport(name string) peerTransport {
	n.t.Helper()
	if !n.stock {
		trans := n.mux(name).Raft(nil, rpcTimeout, discard())
		n.t.Cleanup(func() { trans.Close() })
		return trans
	}
	trans, err := raft.NewTCPTransportWithLogger("127.0.0.1:0", nil, 3, rpcTimeout, discard())
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { trans.CloseStreams(); trans.Close() })
	return trans
}

// puppet plays a peer: it grants votes and takes entries, until the test tells it otherwise.
type puppet struct {
	peerTransport
	id raft.ServerID

	mu     sync.Mutex
	answer func(raft.RPC) bool // true: it has dealt with it; guarded by mu
	term   atomic.Uint64
}

// among bootstraps the library as it comes, as one voter beside puppets. It is shut down with the
// test.
func (n *network) among(cfg *raft.Config, fsm raft.FSM, log stores, trans raft.Transport, others ...*puppet) (*raft.Raft, raft.Server) {
	n.t.Helper()
	r, err := raft.NewRaft(cfg, fsm, log, log, raft.NewInmemSnapshotStore(), trans)
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { r.Shutdown().Error() })
	own := raft.Server{ID: cfg.LocalID, Address: trans.LocalAddr()}
	list := []raft.Server{own}
	for _, p := range others {
		list = append(list, raft.Server{ID: p.id, Address: p.LocalAddr()})
	}
	if err := r.BootstrapCluster(raft.Configuration{Servers: list}).Error(); err != nil {
		n.t.Fatal(err)
	}
	return r, own
}

// stores are a log and what is beside it.
type stores interface {
	raft.LogStore
	raft.StableStore
}

func (n *network) puppet(name string, trans peerTransport) *puppet {
	n.t.Helper()
	p := &puppet{peerTransport: trans, id: raft.ServerID(name)}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		for {
			select {
			case rpc := <-trans.Consumer():
				p.take(rpc)
			case <-ctx.Done():
				return
			}
		}
	})
	n.t.Cleanup(func() { cancel(); work.Wait() })
	return p
}

// answers sets what comes before the puppet's own answers; nil for nothing.
func (p *puppet) answers(answer func(raft.RPC) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = answer
}

func (p *puppet) take(rpc raft.RPC) {
	p.mu.Lock()
	answer := p.answer
	p.mu.Unlock()
	if answer != nil && answer(rpc) {
		return
	}
	switch cmd := rpc.Command.(type) {
	case *raft.AppendEntriesRequest:
		p.term.Store(cmd.Term)
		rpc.Respond(accept(cmd), nil)
	case *raft.RequestVoteRequest:
		p.term.Store(cmd.Term)
		rpc.Respond(&raft.RequestVoteResponse{RPCHeader: p.header(), Term: cmd.Term, Granted: true}, nil)
	case *raft.RequestPreVoteRequest:
		rpc.Respond(&raft.RequestPreVoteResponse{RPCHeader: p.header(), Term: cmd.Term, Granted: true}, nil)
	case *raft.TimeoutNowRequest:
		rpc.Respond(&raft.TimeoutNowResponse{RPCHeader: p.header()}, nil)
	case *raft.InstallSnapshotRequest:
		io.Copy(io.Discard, rpc.Reader) //nolint:errcheck // a puppet keeps nothing
		rpc.Respond(&raft.InstallSnapshotResponse{RPCHeader: p.header(), Term: cmd.Term, Success: true}, nil)
	}
}

func accept(cmd *raft.AppendEntriesRequest) *raft.AppendEntriesResponse {
	return &raft.AppendEntriesResponse{
		RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax}, Term: cmd.Term, Success: true,
		LastLog: cmd.PrevLogEntry + uint64(len(cmd.Entries)),
	}
}

func (p *puppet) header() raft.RPCHeader {
	return raft.RPCHeader{
		ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(p.id), Addr: []byte(p.LocalAddr()),
	}
}

// append sends entries as the leader of a term.
func (p *puppet) append(t *testing.T, to raft.Server, req raft.AppendEntriesRequest) *raft.AppendEntriesResponse {
	t.Helper()
	req.RPCHeader = p.header()
	var resp raft.AppendEntriesResponse
	if err := p.AppendEntries(to.ID, to.Address, &req, &resp); err != nil {
		t.Fatalf("append to %s: %v", to.ID, err)
	}
	return &resp
}

// candidate is a real replica: the library as it comes, or a store.
type candidate interface{ IsLeader() bool }

// library is a replica without a store around it.
type library struct{ *raft.Raft }

func (l library) IsLeader() bool { return l.State() == raft.Leader }
func (l library) Term() uint64   { return l.CurrentTerm() }

// elect makes the real replica stand for election now.
func (p *puppet) elect(t *testing.T, r candidate, to raft.Server) {
	t.Helper()
	eventually(t, "the replica leads", func() bool {
		if r.IsLeader() {
			return true
		}
		req := &raft.TimeoutNowRequest{RPCHeader: p.header()}
		return p.TimeoutNow(to.ID, to.Address, req, &raft.TimeoutNowResponse{}) == nil &&
			within(time.Second, r.IsLeader)
	})
}

// isHeartbeat tells heartbeats from other appends as the library does.
func isHeartbeat(rpc raft.RPC) bool {
	cmd, ok := rpc.Command.(*raft.AppendEntriesRequest)
	return ok && cmd.PrevLogEntry == 0 && cmd.PrevLogTerm == 0 && len(cmd.Entries) == 0 && cmd.LeaderCommitIndex == 0
}

func discard() hclog.Logger { return hclog.NewNullLogger() }

// counter is a state machine that counts entries.
type counter struct{ applied atomic.Uint64 }

func (c *counter) Apply(entry *raft.Log) any           { c.applied.Store(entry.Index); return nil }
func (c *counter) Snapshot() (raft.FSMSnapshot, error) { return nothing{}, nil }
func (c *counter) Restore(r io.ReadCloser) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

type nothing struct{}

func (nothing) Persist(sink raft.SnapshotSink) error { return sink.Close() }
func (nothing) Release()                             {}

// config has timeouts that no puppet play comes near, unless the test shortens them.
func config(id raft.ServerID) *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID, c.Logger = id, hclog.NewNullLogger()
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = time.Minute, time.Minute, time.Minute
	c.CommitTimeout = 5 * time.Millisecond
	c.SnapshotInterval = time.Hour
	return c
}
