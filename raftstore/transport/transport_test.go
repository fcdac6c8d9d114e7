package transport_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/proto/peerpb"
	"quorate/raftstore/testcluster"
	"quorate/raftstore/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// logBuffer collects log lines.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func listen(t *testing.T, identity *tls.Config, timeout time.Duration) (*transport.Mux, *logBuffer) {
	t.Helper()
	return listenWith(t, transport.Config{TLS: identity, HandshakeTimeout: timeout})
}

func listenWith(t *testing.T, cfg transport.Config) (*transport.Mux, *logBuffer) {
	t.Helper()
	out := &logBuffer{}
	cfg.Addr, cfg.Logger = "127.0.0.1:0", slog.New(slog.NewTextHandler(out, nil))
	m, err := transport.Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return m, out
}

func TestMuxRefuses(t *testing.T) {
	ours, theirs := testcluster.NewAuthority(t), testcluster.NewAuthority(t)
	m, out := listen(t, ours.Peer(t, "n1"), 200*time.Millisecond)
	cases := map[string]struct {
		identity *tls.Config
		line     string
	}{
		"another_cluster_key": {theirs.Peer(t, "n2"), "certificate signed by another cluster key"},
		"no_peer":             {ours.Certificate(t, time.Now().Add(time.Hour)), "certificate names no peer"},
		"expired": {
			ours.Certificate(t, time.Now().Add(-time.Minute), transport.PeerURI("n2")), "certificate expired",
		},
		"no_certificate": {&tls.Config{}, "didn't provide a certificate"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := c.identity.Clone()
			cfg.InsecureSkipVerify = true
			cfg.NextProtos = []string{transport.ProtocolGRPC}
			conn, err := tls.Dial("tcp", m.Addr().String(), cfg)
			if err == nil { // in TLS 1.3 the client receives the refusal when it reads
				_, err = io.ReadAll(conn)
				conn.Close()
			}
			if err == nil {
				t.Error("connection was accepted")
			}
			testcluster.Eventually(t, "one clear line", func() bool { return strings.Contains(out.String(), c.line) })
			if !strings.Contains(out.String(), "remote=127.0.0.1:") {
				t.Error("the line does not name the remote address")
			}
		})
	}
	t.Run("silence", func(t *testing.T) {
		conn, err := net.Dial("tcp", m.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.ReadAll(conn); err != nil && !errors.Is(err, io.EOF) {
			t.Log(err) // either a reset or an EOF
		}
	})
	t.Run("dialling_into_another_cluster_says_so", func(t *testing.T) {
		stranger, _ := listen(t, theirs.Peer(t, "n2"), time.Second)
		_, err := stranger.Dial(t.Context(), "", m.Addr().String(), transport.ProtocolGRPC)
		if err == nil || !strings.Contains(err.Error(), "certificate signed by another cluster key") {
			t.Errorf("got %v", err)
		}
	})
}

// echo is a service whose Confirm returns the length of the caller's name as term.
type echo struct {
	peerpb.UnimplementedStoreServer
}

func (echo) Confirm(ctx context.Context, _ *peerpb.ConfirmRequest) (*peerpb.ConfirmResponse, error) {
	name, err := transport.PeerName(ctx)
	return &peerpb.ConfirmResponse{Term: uint64(len(name))}, err
}

// Writes answers the first message with a text whose length is the id of the first write.
func (echo) Writes(stream peerpb.Store_WritesServer) error {
	request, err := stream.Recv()
	if err != nil {
		return err
	}
	text := strings.Repeat("x", int(request.GetWrites()[0].GetId()))
	return stream.Send(&peerpb.WriteResults{Results: []*peerpb.WriteResponse{{Message: text}}})
}

// connectEcho serves echo on one node until the test ends, and returns a client of another node.
func connectEcho(t *testing.T, server, client *transport.Mux) peerpb.StoreClient {
	t.Helper()
	s := grpc.NewServer(transport.ServerOptions()...)
	peerpb.RegisterStoreServer(s, echo{})
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(server.GRPC()) })
	conn, err := client.Connect("", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		s.Stop()
		serving.Wait()
	})
	return peerpb.NewStoreClient(conn)
}

// TestMessageTooLarge: a message over the bound fails its call, and the caller counts that once,
// whichever node sent the message.
func TestMessageTooLarge(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	registry := prometheus.NewRegistry()
	server, _ := listen(t, authority.Peer(t, "server"), 0)
	client, _ := listenWith(t, transport.Config{TLS: authority.Peer(t, "client"), Registerer: registry})
	peer := connectEcho(t, server, client)
	counted := 0.0
	for _, call := range []struct {
		what string
		send func(length int) error
	}{
		{"request", func(length int) error {
			_, err := peer.Confirm(t.Context(), &peerpb.ConfirmRequest{ClusterId: strings.Repeat("x", length)})
			return err
		}},
		{"request in a stream", func(length int) error {
			return exchange(t.Context(), peer, &peerpb.WriteRequest{Entry: make([]byte, length)})
		}},
		{"response in a stream", func(length int) error {
			return exchange(t.Context(), peer, &peerpb.WriteRequest{Id: uint64(length)})
		}},
	} {
		if err := call.send(15 << 20); err != nil {
			t.Errorf("%s below the bound: %v", call.what, err)
		}
		if err := call.send(17 << 20); status.Code(err) != codes.ResourceExhausted {
			t.Errorf("%s over the bound: %v", call.what, err)
		}
		counted++
		if n := hits(t, registry, "message_bytes"); n != counted {
			t.Errorf("%s: %v calls counted, want %v", call.what, n, counted)
		}
	}
}

// exchange sends one write in a stream, and returns the error of the first response.
func exchange(ctx context.Context, peer peerpb.StoreClient, write *peerpb.WriteRequest) error {
	stream, err := peer.Writes(ctx)
	if err != nil {
		return err
	}
	_ = stream.Send(&peerpb.WriteBatch{Writes: []*peerpb.WriteRequest{write}}) // Recv returns the error that ended the stream
	_, err = stream.Recv()
	return err
}

// hits returns how often a bound was reached.
func hits(t *testing.T, registry *prometheus.Registry, limit string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "quorate_raftstore_peer_limit_hits_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			if m.GetLabel()[0].GetValue() == limit {
				return m.GetCounter().GetValue()
			}
		}
	}
	t.Fatalf("no counter of %s", limit)
	return 0
}

func TestMuxRoutes(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	server, _ := listen(t, authority.Peer(t, "server"), 0)
	client, _ := listen(t, authority.Peer(t, "client"), 0)

	t.Run("h2_to_grpc_with_the_peer's_name", func(t *testing.T) {
		resp, err := connectEcho(t, server, client).Confirm(t.Context(), &peerpb.ConfirmRequest{})
		if err != nil || resp.GetTerm() != uint64(len("client")) {
			t.Errorf("got %v, %v", resp, err)
		}
	})

	t.Run("quorate-raft_to_raft_with_heartbeats_in_the_queue_695", func(t *testing.T) {
		to := server.Raft(nil, time.Second, hclog.NewNullLogger())
		defer to.Close()
		fast := make(chan struct{}, 1)
		to.SetHeartbeatHandler(func(raft.RPC) { fast <- struct{}{} })
		var answering sync.WaitGroup
		answering.Go(func() {
			rpc := <-to.Consumer()
			rpc.Respond(&raft.AppendEntriesResponse{Term: 7, Success: true}, nil)
		})
		from := client.Raft(func(string) (string, bool) { return server.Addr().String(), true }, time.Second, hclog.NewNullLogger())
		defer from.Close()
		var resp raft.AppendEntriesResponse
		heartbeat := &raft.AppendEntriesRequest{RPCHeader: raft.RPCHeader{Addr: []byte("x")}, Term: 7}
		if err := from.AppendEntries("server", "nowhere:1", heartbeat, &resp); err != nil || resp.Term != 7 {
			t.Errorf("got %+v, %v", resp, err)
		}
		answering.Wait()
		select {
		case <-fast:
			t.Error("a heartbeat took the fast path")
		default:
		}
		from.Mute(true)
		if err := from.AppendEntries("server", "nowhere:1", heartbeat, &resp); err == nil {
			t.Error("a muted transport sent a heartbeat")
		}
	})
}

// TestPipelineAfterRefusal uses a pipeline as the library's replication does: it reads responses up
// to the first refusal, and sends until it notices the refusal. The last sends must fail; on the
// library's own pipeline they would never return.
func TestPipelineAfterRefusal(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	server, _ := listen(t, authority.Peer(t, "server"), 0)
	client, _ := listen(t, authority.Peer(t, "client"), 0)
	to := server.Raft(nil, time.Second, hclog.NewNullLogger())
	from := client.Raft(nil, time.Second, hclog.NewNullLogger())
	ctx, cancel := context.WithCancel(t.Context())
	var answering sync.WaitGroup
	answering.Go(func() {
		for {
			select {
			case rpc := <-to.Consumer():
				rpc.Respond(&raft.AppendEntriesResponse{}, nil) // refused
			case <-ctx.Done():
				return
			}
		}
	})
	p, err := from.AppendEntriesPipeline("server", raft.ServerAddress(server.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	req := &raft.AppendEntriesRequest{RPCHeader: raft.RPCHeader{Addr: []byte("x")}, Term: 1, PrevLogEntry: 1}
	if _, err := p.AppendEntries(req, &raft.AppendEntriesResponse{}); err != nil {
		t.Fatal(err)
	}
	if response := <-p.Consumer(); response.Response().Success {
		t.Fatal("not refused")
	}
	sent := make(chan error, 1)
	go func() {
		var err error
		for range 10 { // the library may send any number of times before it notices
			if _, err = p.AppendEntries(req, &raft.AppendEntriesResponse{}); err != nil {
				break
			}
		}
		sent <- err
	}()
	if err := <-sent; err == nil {
		t.Error("a send after the refusal succeeded")
	}
	if err := errors.Join(p.Close(), from.Close(), to.Close()); err != nil {
		t.Error(err)
	}
	cancel()
	answering.Wait()
}

// The connections to a peer's former process are dead, which a sender finds out only by using them.
func TestVoteRequestIsRetriedOnStaleConnections(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	server, _ := listen(t, authority.Peer(t, "server"), 0)
	client, _ := listen(t, authority.Peer(t, "client"), 0)
	proxy := testcluster.NewProxy(t)
	proxy.To(server.Addr().String())
	to := server.Raft(nil, time.Second, hclog.NewNullLogger())
	from := client.Raft(func(string) (string, bool) { return proxy.Addr(), true }, time.Minute, hclog.NewNullLogger())
	ask := func() error {
		req := &raft.RequestVoteRequest{RPCHeader: raft.RPCHeader{Addr: []byte("x")}, Term: 1}
		return from.RequestVote("server", "nowhere:1", req, &raft.RequestVoteResponse{})
	}
	response := func(rpc raft.RPC) { rpc.Respond(&raft.RequestVoteResponse{Granted: true}, nil) }

	const connections = 3 // as many as are kept
	asked := make(chan error, connections)
	for range connections {
		go func() { asked <- ask() }()
	}
	var together []raft.RPC
	for range connections {
		together = append(together, <-to.Consumer())
	}
	for _, rpc := range together {
		response(rpc)
	}
	for range connections {
		if err := <-asked; err != nil {
			t.Fatal(err)
		}
	}
	proxy.Cut(true)
	proxy.Cut(false)
	go func() { asked <- ask() }()
	select {
	case rpc := <-to.Consumer():
		response(rpc)
		if err := <-asked; err != nil {
			t.Error(err)
		}
	case err := <-asked:
		t.Errorf("the peer did not receive the request: %v", err)
	}
	if err := errors.Join(from.Close(), to.Close()); err != nil {
		t.Error(err)
	}
}

// A peer that is cut off accepts the connection and sends nothing. Raft's shutdown waits for the
// request, and must not wait for its timeout.
func TestAbortEndsDials(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	authority := testcluster.NewAuthority(t)
	client, _ := listen(t, authority.Peer(t, "client"), 0)
	from := client.Raft(nil, time.Hour, hclog.NewNullLogger())
	sent := make(chan error, 1)
	go func() {
		req := &raft.AppendEntriesRequest{RPCHeader: raft.RPCHeader{Addr: []byte("x")}, Term: 1}
		sent <- from.AppendEntries("silent", raft.ServerAddress(silent.Addr().String()), req, &raft.AppendEntriesResponse{})
	}()
	dialled, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer dialled.Close()
	from.Abort()
	select {
	case err := <-sent:
		if err == nil {
			t.Error("a request to a silent peer succeeded")
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the dial did not end")
	}
	if err := from.Close(); err != nil {
		t.Error(err)
	}
}
