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

// multiplier makes an election take a tenth of a second.
const multiplier = 0.05

// leaderWait is longer than requests wait in production: a loaded machine may delay everything by
// seconds, and these servers are always to have their leader.
const leaderWait = 30 * time.Second

// NodeName is the only node's.
const NodeName = "n0"

// OpenStore runs a store of one node until the returned function is called.
func OpenStore(t testing.TB, dir string, fresh bool) (store *raftstore.Store, stop func()) {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	mux, err := transport.Listen(transport.Config{Addr: "127.0.0.1:0", TLS: certificate(t, transport.PeerURI(NodeName)), Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(transport.ServerOptions()...)
	muxCtx, endMux := context.WithCancel(context.Background())
	ended := make(chan error, 3)
	go func() { ended <- mux.Run(muxCtx) }()
	store, err = raftstore.Open(raftstore.Config{
		Name: NodeName, DataDir: dir, Peers: mux, Registrar: server, RaftMultiplier: multiplier, LeaderWait: leaderWait, Logger: logger,
	})
	if err != nil {
		endMux()
		t.Fatal(err)
	}
	ctx, endStore := context.WithCancel(context.Background())
	storeEnded := make(chan error, 1)
	go func() { ended <- server.Serve(mux.GRPC()) }()
	go func() { storeEnded <- store.Run(ctx) }()
	if fresh {
		self := raft.Server{ID: NodeName, Address: raft.ServerAddress(mux.Addr().String())}
		if err := store.Bootstrap([]raft.Server{self}); err != nil {
			t.Fatal(err)
		}
	}
	return store, func() {
		endStore()
		if err := <-storeEnded; err != nil {
			t.Errorf("store ended: %v", err)
		}
		server.Stop()
		endMux()
		for range 2 {
			if err := <-ended; err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, grpc.ErrServerStopped) {
				t.Errorf("peer address ended: %v", err)
			}
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
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, RootCAs: pool,
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
