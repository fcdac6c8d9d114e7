package record

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"google.golang.org/grpc"

	"quorate/proto/peerpb"
	"quorate/raftstore"
	"quorate/raftstore/direct"
	"quorate/raftstore/state"
	"quorate/raftstore/transport"
)

// replica is a whole store among puppets.
type replica struct {
	*raftstore.Store
	server raft.Server
	ended  chan error
	stop   func()
}

// replica starts a store named a, in a data directory that may be used before. Its timeouts are
// multiplier times 2 s.
func (n *network) replica(dir string, multiplier float64) *replica {
	n.t.Helper()
	mux := n.mux("a")
	rpc := grpc.NewServer(transport.ServerOptions()...)
	store, err := raftstore.Open(raftstore.Config{
		Name: "a", DataDir: dir, Peers: mux, Registrar: rpc, RaftMultiplier: multiplier, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		n.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &replica{
		Store: store, server: raft.Server{ID: "a", Address: raft.ServerAddress(mux.Addr().String())}, ended: make(chan error, 1),
	}
	var work sync.WaitGroup
	work.Go(func() { _ = rpc.Serve(mux.GRPC()) })
	work.Go(func() { r.ended <- store.Run(ctx) })
	r.stop = sync.OnceFunc(func() { cancel(); rpc.Stop(); work.Wait() })
	n.t.Cleanup(r.stop)
	return r
}

// storePuppet is a puppet that also tells its term, as the store's peers do.
type storePuppet struct {
	*puppet
	peerpb.UnimplementedStoreServer
}

// Confirm implements peerpb.StoreServer.
func (p *storePuppet) Confirm(context.Context, *peerpb.ConfirmRequest) (*peerpb.ConfirmResponse, error) {
	return &peerpb.ConfirmResponse{Term: p.term.Load()}, nil
}

func (n *network) storePuppet(name string) *storePuppet {
	n.t.Helper()
	mux := n.mux(name)
	trans := mux.Raft(nil, rpcTimeout, discard())
	n.t.Cleanup(func() { trans.Close() })
	p := &storePuppet{puppet: n.puppet(name, trans)}
	rpc := grpc.NewServer(transport.ServerOptions()...)
	requests := direct.NewServer(transport.PeerContext, slog.New(slog.DiscardHandler))
	peerpb.RegisterStoreServer(rpc, p)
	peerpb.RegisterStoreServer(requests, p)
	var work sync.WaitGroup
	work.Go(func() { _ = rpc.Serve(mux.GRPC()) })
	work.Go(func() { _ = requests.Serve(mux.Direct(direct.Streams), mux.Direct(direct.Calls)) })
	n.t.Cleanup(func() { requests.End(n.t.Context()); rpc.Stop(); work.Wait() })
	return p
}

func servers(a raft.Server, puppets ...*storePuppet) []raft.Server {
	list := []raft.Server{a}
	for _, p := range puppets {
		list = append(list, raft.Server{ID: p.id, Address: p.LocalAddr()})
	}
	return list
}

// bounded is a context that ends soon, for what must not hang.
func bounded(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func object(name string) (state.Key, *state.Object) {
	value := `{"metadata":{"name":"` + name + `","resourceVersion":"`
	return state.NewKey("configmaps", "default", name), &state.Object{
		UID: name, Value: []byte(value + `"}}`), VersionOffset: uint32(len(value)),
	}
}
