package testserver

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"google.golang.org/grpc"

	"quorate/raftstore"
	"quorate/raftstore/state"
	"quorate/raftstore/transport"
)

// Multipliers make an election take a tenth of a second, where nobody votes against it, or some tenths.
const (
	aloneMultiplier   = 0.05
	clusterMultiplier = 0.25
)

// nodeName is the first, or only, node's.
const nodeName = "n0"

// OpenStore runs a store of one node until the returned function is called.
func OpenStore(t testing.TB, dir string, fresh bool) (store *raftstore.Store, stop func()) {
	t.Helper()
	r := openReplica(t, nodeName, dir, certificate(t, transport.PeerURI(nodeName)), aloneMultiplier)
	if fresh {
		r.bootstrap(t, []raft.Server{r.server()})
	}
	return r.store, func() { r.stop(t) }
}

// OpenStores runs the stores of a new cluster of so many nodes, which end with the test.
func OpenStores(t testing.TB, count int) []*raftstore.Store {
	t.Helper()
	pool := x509.NewCertPool()
	identities := make([]*tls.Config, count)
	for i := range identities {
		identities[i] = certificate(t, transport.PeerURI(fmt.Sprintf("n%d", i)))
		pool.AddCert(identities[i].Certificates[0].Leaf)
	}
	var servers []raft.Server
	var replicas []*replica
	var stores []*raftstore.Store
	for i, identity := range identities {
		identity.RootCAs = pool // each signed itself
		r := openReplica(t, fmt.Sprintf("n%d", i), t.TempDir(), identity, clusterMultiplier)
		t.Cleanup(func() { r.stop(t) })
		servers, replicas, stores = append(servers, r.server()), append(replicas, r), append(stores, r.store)
	}
	for _, r := range replicas {
		r.bootstrap(t, servers)
	}
	return stores
}

// replica is one node's store with what it runs on.
type replica struct {
	name       string
	store      *raftstore.Store
	mux        *transport.Mux
	grpc       *grpc.Server
	endStore   context.CancelFunc
	endMux     context.CancelFunc
	storeEnded chan error
	muxEnded   chan error
}

func openReplica(t testing.TB, name, dir string, identity *tls.Config, multiplier float64) *replica {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	mux, err := transport.Listen(transport.Config{Addr: "127.0.0.1:0", TLS: identity, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{name: name, mux: mux, grpc: grpc.NewServer(transport.ServerOptions()...)}
	r.storeEnded, r.muxEnded = make(chan error, 1), make(chan error, 2)
	muxCtx, endMux := context.WithCancel(context.Background())
	r.endMux = endMux
	go func() { r.muxEnded <- mux.Run(muxCtx) }()
	r.store, err = raftstore.Open(raftstore.Config{
		Name: name, DataDir: dir, Peers: mux, Registrar: r.grpc, RaftMultiplier: multiplier, Logger: logger,
	})
	if err != nil {
		endMux()
		t.Fatal(err)
	}
	ctx, endStore := context.WithCancel(context.Background())
	r.endStore = endStore
	go func() { r.muxEnded <- r.grpc.Serve(mux.GRPC()) }()
	go func() { r.storeEnded <- r.store.Run(ctx) }()
	return r
}

func (r *replica) server() raft.Server {
	return raft.Server{ID: raft.ServerID(r.name), Address: raft.ServerAddress(r.mux.Addr().String())}
}

func (r *replica) bootstrap(t testing.TB, servers []raft.Server) {
	t.Helper()
	if err := r.store.Bootstrap(servers); err != nil {
		t.Fatal(err)
	}
}

func (r *replica) stop(t testing.TB) {
	r.endStore()
	if err := <-r.storeEnded; err != nil {
		t.Errorf("store ended: %v", err)
	}
	r.grpc.Stop()
	r.endMux()
	for range cap(r.muxEnded) {
		if err := <-r.muxEnded; err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, grpc.ErrServerStopped) {
			t.Errorf("peer address ended: %v", err)
		}
	}
}

// certificate makes an identity that signed itself.
func certificate(t testing.TB, uris ...*url.URL) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, URIs: uris,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key, Leaf: cert}}, RootCAs: pool,
	}
}

// Resources returns the resources that have objects, sorted.
func Resources(t testing.TB, store *raftstore.Store) []string {
	t.Helper()
	root, err := store.View(t.Context(), raftstore.Quorum())
	if err != nil {
		t.Fatal(err)
	}
	var resources []string
	root.Ascend("", "", func(o *state.Object) bool {
		if r := o.Key.Resource(); len(resources) == 0 || resources[len(resources)-1] != r {
			resources = append(resources, r)
		}
		return true
	})
	return resources
}
