package forward_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"quorate/proto/peerpb"
	"quorate/raftstore/direct"
	"quorate/raftstore/forward"
	"quorate/raftstore/testcluster"
	"quorate/raftstore/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// node is the leader's end: its peer address and the gRPC server there.
type node struct {
	mux    *transport.Mux
	rpc    *grpc.Server
	direct *direct.Server
}

// stop ends all connections at once.
func (n *node) stop() {
	ended, end := context.WithCancel(context.Background())
	end()
	n.direct.End(ended)
	n.rpc.Stop()
}

func (n *node) addr() string { return n.mux.Addr().String() }

// drain ends the connections once their streams have ended.
func (n *node) drain() {
	n.direct.End(context.Background())
	n.rpc.GracefulStop()
}

// service serves the stream of writes with a function of the test.
type service struct {
	peerpb.UnimplementedStoreServer
	writes func(peerpb.Store_WritesServer) error
}

func (s service) Writes(stream peerpb.Store_WritesServer) error { return s.writes(stream) }

func mux(t testing.TB, authority *testcluster.Authority, name string) *transport.Mux {
	t.Helper()
	m, err := transport.Listen(transport.Config{
		Addr: "127.0.0.1:0", TLS: authority.Peer(t, name), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return m
}

// serve starts a node whose stream of writes is served by writes.
func serve(t testing.TB, authority *testcluster.Authority, writes func(peerpb.Store_WritesServer) error) *node {
	t.Helper()
	leader := mux(t, authority, "leader")
	n := &node{mux: leader, rpc: grpc.NewServer(append(transport.ServerOptions(), grpc.WaitForHandlers(true))...)}
	n.direct = direct.NewServer(transport.PeerContext, slog.New(slog.DiscardHandler))
	peerpb.RegisterStoreServer(n.rpc, service{writes: writes})
	peerpb.RegisterStoreServer(n.direct, service{writes: writes})
	var work sync.WaitGroup
	work.Go(func() { _ = n.rpc.Serve(n.mux.GRPC()) })
	work.Go(func() { _ = n.direct.Serve(n.mux.Direct(direct.Streams), n.mux.Direct(direct.Calls)) })
	t.Cleanup(func() { n.stop(); work.Wait() })
	return n
}

// older connects to peers as to those of a build without package direct.
type older struct{ *transport.Mux }

func (older) DialDirect(context.Context, string, string, direct.Protocol) (net.Conn, error) {
	return nil, direct.ErrNotOffered
}

// follower returns a client and the registry of its metrics.
func follower(t testing.TB, authority *testcluster.Authority) (*forward.Client, *prometheus.Registry) {
	t.Helper()
	return clientOn(t, mux(t, authority, "follower"))
}

func clientOn(t testing.TB, peers forward.Transport) (*forward.Client, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewRegistry()
	client := forward.NewClient(peers, time.Minute, registry)
	t.Cleanup(func() { client.Close() })
	return client, registry
}

// decisions are the writes that a leader has accepted and the test decides.
type decisions struct {
	took chan *decision
}

type decision struct {
	req     *peerpb.WriteRequest
	ctx     context.Context
	outcome chan peerpb.Outcome // takes one
}

func newDecisions() *decisions { return &decisions{make(chan *decision, 1<<14)} }

func (d *decisions) answer(ctx context.Context, req *peerpb.WriteRequest) *peerpb.WriteResponse {
	one := &decision{req, ctx, make(chan peerpb.Outcome, 1)}
	d.took <- one
	select {
	case outcome := <-one.outcome:
		return &peerpb.WriteResponse{Outcome: outcome, Message: string(req.GetEntry())}
	case <-ctx.Done():
		return &peerpb.WriteResponse{Outcome: peerpb.Outcome_UNKNOWN, Message: ctx.Err().Error()}
	}
}

// next returns the next write that the leader accepts.
func (d *decisions) next(t testing.TB) *decision {
	t.Helper()
	select {
	case one := <-d.took:
		return one
	case <-time.After(testTimeout):
		t.Fatal("no write came")
		return nil
	}
}

func (d *decision) apply() { d.outcome <- peerpb.Outcome_APPLIED }

// server returns a Server and the registry of its metrics.
func server(t testing.TB, answer forward.DecideFunc) (*forward.Server, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewRegistry()
	return forward.NewServer(answer, registry), registry
}

// testTimeout is longer than any operation of these tests.
const testTimeout = 30 * time.Second

type outcome struct {
	resp *peerpb.WriteResponse
	err  error
}

// status returns what a caller may conclude from the outcome.
func (o outcome) status() string {
	switch {
	case o.err == nil:
		return o.resp.GetOutcome().String()
	case errors.Is(o.err, forward.ErrNotSent):
		return "not sent"
	default:
		return "in doubt"
	}
}

// write starts a write and returns a channel for its outcome.
func write(ctx context.Context, c *forward.Client, address, entry string) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		resp, err := c.Write(ctx, "leader", address, &peerpb.WriteRequest{Entry: []byte(entry)})
		done <- outcome{resp, err}
	}()
	return done
}

func bounded(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	t.Cleanup(cancel)
	return ctx
}

// scenario interrupts a write at one moment.
type scenario struct {
	name   string
	writes func(*fixture) func(peerpb.Store_WritesServer) error // the leader's side of the stream
	then   func(*fixture)                                       // what happens once the leader has reached the moment
	want   string
}

// fixture is what a scenario runs with.
type fixture struct {
	*node
	client     *forward.Client
	cancel     context.CancelFunc // cancels the write
	reached    chan struct{}      // receives a value at the moment
	goOn       chan struct{}      // closed to let the leader continue
	unusedAddr string             // an address at which nothing listens
}

// sendHeader sends the header that the client waits for before it sends writes.
func sendHeader(stream peerpb.Store_WritesServer) error { return stream.SendHeader(metadata.MD{}) }

// Only a write that the leader has certainly not accepted may be sent again (I23). The outcome of
// every other interrupted write is unknown (I16).
func TestOutcomeOfInterruptedWrite(t *testing.T) {
	idle := func(s *fixture) func(peerpb.Store_WritesServer) error { // accepts the stream and never responds
		return func(stream peerpb.Store_WritesServer) error {
			s.reached <- struct{}{}
			select {
			case <-s.goOn:
			case <-stream.Context().Done():
			}
			return errors.New("broken")
		}
	}
	unread := func(s *fixture) func(peerpb.Store_WritesServer) error { // does not read the write
		return func(stream peerpb.Store_WritesServer) error {
			if err := sendHeader(stream); err != nil {
				return err
			}
			return idle(s)(stream)
		}
	}
	last := func(read bool) func(s *fixture) func(peerpb.Store_WritesServer) error { // ends the stream without accepting a write
		return func(s *fixture) func(peerpb.Store_WritesServer) error {
			return func(stream peerpb.Store_WritesServer) error {
				if err := sendHeader(stream); err != nil {
					return err
				}
				if read {
					if _, err := stream.Recv(); err != nil {
						return err
					}
				}
				s.reached <- struct{}{}
				return stream.Send(&peerpb.WriteResults{Last: true})
			}
		}
	}
	receiving := func(s *fixture) func(peerpb.Store_WritesServer) error { // reads the write and never responds
		return func(stream peerpb.Store_WritesServer) error {
			if err := sendHeader(stream); err != nil {
				return err
			}
			if _, err := stream.Recv(); err != nil {
				return err
			}
			return idle(s)(stream)
		}
	}
	ends := func(s *fixture) func(peerpb.Store_WritesServer) error { // reads the write and ends the stream without an error
		return func(stream peerpb.Store_WritesServer) error { receiving(s)(stream); return nil }
	}
	responding := func(s *fixture) func(peerpb.Store_WritesServer) error { // responds, and fails the stream
		return func(stream peerpb.Store_WritesServer) error {
			if err := sendHeader(stream); err != nil {
				return err
			}
			batch, err := stream.Recv()
			if err != nil {
				return err
			}
			id := batch.GetWrites()[0].GetId()
			err = stream.Send(&peerpb.WriteResults{Results: []*peerpb.WriteResponse{
				{Id: id + 1000}, {Id: id, Outcome: peerpb.Outcome_APPLIED}, {Id: id, Outcome: peerpb.Outcome_UNKNOWN},
			}})
			s.reached <- struct{}{}
			return errors.Join(err, errors.New("broken"))
		}
	}
	nothing := func(*fixture) {}
	goOn := func(s *fixture) { close(s.goOn) }
	dies := func(s *fixture) { s.stop() }
	leaves := func(s *fixture) { s.cancel() }
	closes := func(s *fixture) { s.client.Close() }
	removed := func(s *fixture) { s.client.Retain(func(string) bool { return false }) }
	moves := func(s *fixture) { // to an address at which nothing listens
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		<-write(ctx, s.client, s.unusedAddr, "y")
	}
	for _, m := range []scenario{
		{"queued_and_the_stream_is_refused", idle, goOn, "not sent"},
		{"queued_and_the_leader_dies", idle, dies, "not sent"},
		{"queued_and_the_caller_leaves", idle, leaves, "not sent"},
		{"queued_and_the_client_closes", idle, closes, "not sent"},
		{"queued_and_the_leader_moves", idle, moves, "not sent"},
		{"queued_and_the_leader_is_removed", idle, removed, "not sent"},
		{"unread_and_the_stream_breaks", unread, goOn, "in doubt"},
		{"unread_and_the_leader_dies", unread, dies, "in doubt"},
		{"unread_and_the_leader_reports_that_it_was_not_accepted", last(false), nothing, "not sent"},
		{"read_and_the_leader_reports_that_it_was_not_accepted", last(true), nothing, "not sent"},
		{"at_the_leader_and_the_stream_breaks", receiving, goOn, "in doubt"},
		{"at_the_leader_and_the_stream_ends", ends, goOn, "in doubt"},
		{"at_the_leader_and_it_dies", receiving, dies, "in doubt"},
		{"at_the_leader_and_the_caller_leaves", receiving, leaves, "in doubt"},
		{"at_the_leader_and_the_client_closes", receiving, closes, "in doubt"},
		{"at_the_leader_and_it_moves", receiving, moves, "in doubt"},
		{"at_the_leader_and_it_is_removed", receiving, removed, "in doubt"},
		{"answered_and_the_stream_breaks", responding, nothing, "APPLIED"},
	} {
		t.Run(m.name+"/direct", func(t *testing.T) { m.play(t, func(m *transport.Mux) forward.Transport { return m }) })
		t.Run(m.name+"/gRPC", func(t *testing.T) { m.play(t, func(m *transport.Mux) forward.Transport { return older{m} }) })
	}
}

func (m *scenario) play(t *testing.T, peers func(*transport.Mux) forward.Transport) {
	authority := testcluster.NewAuthority(t)
	ctx, cancel := context.WithCancel(bounded(t))
	s := &fixture{cancel: cancel, reached: make(chan struct{}, 8), goOn: make(chan struct{}), unusedAddr: deadAddress(t)}
	s.node = serve(t, authority, m.writes(s))
	var registry *prometheus.Registry
	s.client, registry = clientOn(t, peers(mux(t, authority, "follower")))
	done := write(ctx, s.client, s.addr(), "x")
	<-s.reached
	if m.want == "in doubt" { // the write must have left the queue
		testcluster.Eventually(t, "the write has left the queue", func() bool { return sum(t, registry, "message_writes") == 1 })
	}
	m.then(s)
	if got := <-done; got.status() != m.want {
		t.Errorf("%s: %v, %v; want %s", got.status(), got.resp, got.err, m.want)
	}
}

func deadAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// sum returns the sum of a histogram, or the value of a counter.
func sum(t testing.TB, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "quorate_raftstore_forward_"+name {
			m := f.GetMetric()[0]
			return m.GetHistogram().GetSampleSum() + m.GetCounter().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

func TestWriteToUnreachablePeer(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	client, _ := follower(t, authority)
	for name, address := range map[string]string{
		"nothing_listens":         deadAddress(t),
		"another_cluster_listens": mux(t, testcluster.NewAuthority(t), "stranger").Addr().String(),
		"another_node_listens":    mux(t, authority, "other").Addr().String(),
	} {
		t.Run(name, func(t *testing.T) {
			if got := <-write(bounded(t), client, address, "x"); got.status() != "not sent" {
				t.Errorf("%s: %v", got.status(), got.err)
			}
		})
	}
	t.Run("closed", func(t *testing.T) {
		client.Close()
		if got := <-write(bounded(t), client, deadAddress(t), "x"); got.status() != "not sent" {
			t.Errorf("%s: %v", got.status(), got.err)
		}
	})
}

// After a stream broke, the next write opens another one.
func TestStreamIsReopened(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	d := newDecisions()
	s, _ := server(t, d.answer)
	broken := make(chan struct{}, 1)
	leader := serve(t, authority, func(stream peerpb.Store_WritesServer) error {
		select {
		case broken <- struct{}{}:
			return errors.New("not this time")
		default:
			return s.Serve(stream)
		}
	})
	client, _ := follower(t, authority)
	if got := <-write(bounded(t), client, leader.addr(), "first"); got.status() != "not sent" {
		t.Fatalf("%s: %v", got.status(), got.err)
	}
	for i := range 3 {
		entry := fmt.Sprint(i)
		done := write(bounded(t), client, leader.addr(), entry)
		d.next(t).apply()
		if got := <-done; got.status() != "APPLIED" || got.resp.GetMessage() != entry {
			t.Errorf("%s: %v, %v", got.status(), got.resp, got.err)
		}
	}
}
