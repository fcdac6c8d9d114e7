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
	"quorate/raftstore/forward"
	"quorate/raftstore/testcluster"
	"quorate/raftstore/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// node is one end: its peer address, and what a leader serves there.
type node struct {
	mux *transport.Mux
	rpc *grpc.Server
}

func (n *node) addr() string { return n.mux.Addr().String() }

// service is the leader's side of a stream, as the test wants it.
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

// serve starts a leader.
func serve(t testing.TB, authority *testcluster.Authority, writes func(peerpb.Store_WritesServer) error) *node {
	t.Helper()
	n := &node{mux(t, authority, "leader"), grpc.NewServer(append(transport.ServerOptions(), grpc.WaitForHandlers(true))...)}
	peerpb.RegisterStoreServer(n.rpc, service{writes: writes})
	var work sync.WaitGroup
	work.Go(func() { _ = n.rpc.Serve(n.mux.GRPC()) })
	t.Cleanup(func() { n.rpc.Stop(); work.Wait() })
	return n
}

// follower makes a client, and the registry of its metrics.
func follower(t testing.TB, authority *testcluster.Authority) (*forward.Client, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewRegistry()
	client := forward.NewClient(mux(t, authority, "follower").Connect, registry)
	t.Cleanup(func() { client.Close() })
	return client, registry
}

// decisions are writes that a leader has taken up and the test decides.
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

// next is the write taken up next.
func (d *decisions) next(t testing.TB) *decision {
	t.Helper()
	select {
	case one := <-d.took:
		return one
	case <-time.After(patience):
		t.Fatal("no write came")
		return nil
	}
}

func (d *decision) apply() { d.outcome <- peerpb.Outcome_APPLIED }

// server makes the leader's side as it is used.
func server(t testing.TB, answer forward.Answer) (*forward.Server, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewRegistry()
	return forward.NewServer(answer, registry), registry
}

// patience is more than anything here takes.
const patience = 30 * time.Second

type outcome struct {
	resp *peerpb.WriteResponse
	err  error
}

// verdict is what a caller may conclude.
func (o outcome) verdict() string {
	switch {
	case o.err == nil:
		return o.resp.GetOutcome().String()
	case errors.Is(o.err, forward.ErrNotSent):
		return "not sent"
	default:
		return "in doubt"
	}
}

// write starts a write.
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
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// moment is a leader at one moment of a write, and what then happens to it.
type moment struct {
	name   string
	writes func(*stage) func(peerpb.Store_WritesServer) error // the leader's side of the stream
	then   func(*stage)                                       // once the leader has reached the moment
	want   string
}

// stage is where a moment plays.
type stage struct {
	*node
	client   *forward.Client
	cancel   context.CancelFunc // the writer's
	reached  chan struct{}      // the leader has come to the moment
	goOn     chan struct{}      // closed: it goes on
	stranger string             // an address at which nobody listens
}

// headers lets the follower send.
func headers(stream peerpb.Store_WritesServer) error { return stream.SendHeader(metadata.MD{}) }

// TestWhatIsKnownOfAWrite: only what the leader surely hasn't taken up may be sent again (I23); all
// else is in doubt (I16).
func TestWhatIsKnownOfAWrite(t *testing.T) {
	silent := func(s *stage) func(peerpb.Store_WritesServer) error { // accepts the stream and never answers
		return func(stream peerpb.Store_WritesServer) error {
			s.reached <- struct{}{}
			select {
			case <-s.goOn:
			case <-stream.Context().Done():
			}
			return errors.New("broken")
		}
	}
	deaf := func(s *stage) func(peerpb.Store_WritesServer) error { // doesn't read what is sent
		return func(stream peerpb.Store_WritesServer) error {
			if err := headers(stream); err != nil {
				return err
			}
			return silent(s)(stream)
		}
	}
	last := func(read bool) func(s *stage) func(peerpb.Store_WritesServer) error { // accepts no write
		return func(s *stage) func(peerpb.Store_WritesServer) error {
			return func(stream peerpb.Store_WritesServer) error {
				if err := headers(stream); err != nil {
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
	holding := func(s *stage) func(peerpb.Store_WritesServer) error { // has the write
		return func(stream peerpb.Store_WritesServer) error {
			if err := headers(stream); err != nil {
				return err
			}
			if _, err := stream.Recv(); err != nil {
				return err
			}
			return silent(s)(stream)
		}
	}
	ends := func(s *stage) func(peerpb.Store_WritesServer) error { // has the write, and ends well
		return func(stream peerpb.Store_WritesServer) error { holding(s)(stream); return nil }
	}
	answering := func(s *stage) func(peerpb.Store_WritesServer) error { // answers, and breaks
		return func(stream peerpb.Store_WritesServer) error {
			if err := headers(stream); err != nil {
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
	nothing := func(*stage) {}
	goOn := func(s *stage) { close(s.goOn) }
	dies := func(s *stage) { s.rpc.Stop() }
	leaves := func(s *stage) { s.cancel() }
	closes := func(s *stage) { s.client.Close() }
	removed := func(s *stage) { s.client.Retain(func(string) bool { return false }) }
	moves := func(s *stage) { // to where nobody listens
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		<-write(ctx, s.client, s.stranger, "y")
	}
	for _, m := range []moment{
		{"queued_and_the_stream_is_refused", silent, goOn, "not sent"},
		{"queued_and_the_leader_dies", silent, dies, "not sent"},
		{"queued_and_the_caller_leaves", silent, leaves, "not sent"},
		{"queued_and_the_client_closes", silent, closes, "not sent"},
		{"queued_and_the_leader_moves", silent, moves, "not sent"},
		{"queued_and_the_leader_is_a_member_no_more", silent, removed, "not sent"},
		{"unread_and_the_stream_breaks", deaf, goOn, "in doubt"},
		{"unread_and_the_leader_dies", deaf, dies, "in doubt"},
		{"unread_and_the_leader_says_that_it_was_not_taken_up", last(false), nothing, "not sent"},
		{"read_and_the_leader_says_that_it_was_not_taken_up", last(true), nothing, "not sent"},
		{"at_the_leader_and_the_stream_breaks", holding, goOn, "in doubt"},
		{"at_the_leader_and_the_stream_ends", ends, goOn, "in doubt"},
		{"at_the_leader_and_it_dies", holding, dies, "in doubt"},
		{"at_the_leader_and_the_caller_leaves", holding, leaves, "in doubt"},
		{"at_the_leader_and_the_client_closes", holding, closes, "in doubt"},
		{"at_the_leader_and_it_moves", holding, moves, "in doubt"},
		{"at_the_leader_and_it_is_a_member_no_more", holding, removed, "in doubt"},
		{"answered_and_the_stream_breaks", answering, nothing, "APPLIED"},
	} {
		t.Run(m.name, func(t *testing.T) { m.play(t) })
	}
}

func (m *moment) play(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	ctx, cancel := context.WithCancel(bounded(t))
	s := &stage{cancel: cancel, reached: make(chan struct{}, 8), goOn: make(chan struct{}), stranger: deadAddress(t)}
	s.node = serve(t, authority, m.writes(s))
	var registry *prometheus.Registry
	s.client, registry = follower(t, authority)
	done := write(ctx, s.client, s.addr(), "x")
	<-s.reached
	if m.want == "in doubt" { // as opposed to what waits still
		testcluster.Eventually(t, "the write is handed to gRPC", func() bool { return sum(t, registry, "message_writes") == 1 })
	}
	m.then(s)
	if got := <-done; got.verdict() != m.want {
		t.Errorf("%s: %v, %v; want %s", got.verdict(), got.resp, got.err, m.want)
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

// sum is that of a histogram, or the value of a counter.
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

func TestWriteToNobody(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	client, _ := follower(t, authority)
	for name, address := range map[string]string{
		"nobody_listens":          deadAddress(t),
		"another_cluster_listens": mux(t, testcluster.NewAuthority(t), "stranger").Addr().String(),
		"another_node_listens":    mux(t, authority, "other").Addr().String(),
	} {
		t.Run(name, func(t *testing.T) {
			if got := <-write(bounded(t), client, address, "x"); got.verdict() != "not sent" {
				t.Errorf("%s: %v", got.verdict(), got.err)
			}
		})
	}
	t.Run("closed", func(t *testing.T) {
		client.Close()
		if got := <-write(bounded(t), client, deadAddress(t), "x"); got.verdict() != "not sent" {
			t.Errorf("%s: %v", got.verdict(), got.err)
		}
	})
}

// TestNextStream: what broke for one write serves the next.
func TestNextStream(t *testing.T) {
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
	if got := <-write(bounded(t), client, leader.addr(), "first"); got.verdict() != "not sent" {
		t.Fatalf("%s: %v", got.verdict(), got.err)
	}
	for i := range 3 {
		entry := fmt.Sprint(i)
		done := write(bounded(t), client, leader.addr(), entry)
		d.next(t).apply()
		if got := <-done; got.verdict() != "APPLIED" || got.resp.GetMessage() != entry {
			t.Errorf("%s: %v, %v", got.verdict(), got.resp, got.err)
		}
	}
}
