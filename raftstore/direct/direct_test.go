package direct

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"quorate/proto/peerpb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service is a service of the tests. Methods without a function are not implemented.
type service struct {
	peerpb.UnimplementedStoreServer
	readIndex func(context.Context, *peerpb.ReadIndexRequest) (*peerpb.ReadIndexResponse, error)
	writes    func(peerpb.Store_WritesServer) error
}

func (s service) ReadIndex(ctx context.Context, req *peerpb.ReadIndexRequest) (*peerpb.ReadIndexResponse, error) {
	return s.readIndex(ctx, req)
}

func (s service) Writes(stream peerpb.Store_WritesServer) error { return s.writes(stream) }

// echo responds with the term of the request.
func echo(_ context.Context, req *peerpb.ReadIndexRequest) (*peerpb.ReadIndexResponse, error) {
	return &peerpb.ReadIndexResponse{Index: req.GetTerm()}, nil
}

// node is a server on loopback.
type node struct {
	server    *Server
	listeners [2]net.Listener
	done      chan error
}

func startNode(t *testing.T, s service) *node {
	t.Helper()
	n := &node{server: newServer(s), done: make(chan error, 1)}
	for i := range n.listeners {
		var err error
		if n.listeners[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	go func() { n.done <- n.server.Serve(n.listeners[Streams], n.listeners[Calls]) }()
	t.Cleanup(func() { n.stop(t) })
	return n
}

func newServer(s service) *Server {
	server := NewServer(func(ctx context.Context, _ net.Conn) context.Context { return ctx }, slog.New(slog.DiscardHandler))
	peerpb.RegisterStoreServer(server, s)
	return server
}

// stop ends all connections at once. It may be called twice.
func (n *node) stop(t *testing.T) {
	t.Helper()
	ended, end := context.WithCancel(context.Background())
	end()
	n.server.End(ended)
	if err := <-n.done; err != nil {
		t.Error(err)
	}
	n.done <- nil
}

func (n *node) dial(ctx context.Context, p Protocol) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "tcp", n.listeners[p].Addr().String())
}

// noFallback fails all requests.
type noFallback struct{}

func (noFallback) Invoke(context.Context, string, any, any, ...grpc.CallOption) error {
	return errors.New("fallback")
}

func (noFallback) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, errors.New("fallback")
}

func clientOf(t *testing.T, dial Dial) peerpb.StoreClient {
	t.Helper()
	conn := NewConn(dial, noFallback{}, func() {})
	t.Cleanup(func() { _ = conn.Close() }) // an error means that the connection has ended
	return peerpb.NewStoreClient(conn)
}

func index(ctx context.Context, c peerpb.StoreClient, term uint64) (uint64, error) {
	resp, err := c.ReadIndex(ctx, &peerpb.ReadIndexRequest{Term: term})
	return resp.GetIndex(), err
}

func TestCalls(t *testing.T) {
	t.Parallel()
	n := startNode(t, service{readIndex: func(ctx context.Context, req *peerpb.ReadIndexRequest) (*peerpb.ReadIndexResponse, error) {
		if req.GetTerm() == 99 {
			return nil, status.Error(codes.FailedPrecondition, "not this one")
		}
		return echo(ctx, req)
	}})
	c := clientOf(t, n.dial)
	var callers sync.WaitGroup
	for term := range uint64(200) {
		callers.Go(func() {
			got, err := index(t.Context(), c, term)
			if term == 99 {
				if status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), "not this one") {
					t.Errorf("a call that fails: %v", err)
				}
			} else if err != nil || got != term {
				t.Errorf("call %d: %d, %v", term, got, err)
			}
		})
	}
	callers.Wait()
	if _, err := c.Alarms(t.Context(), &peerpb.AlarmsRequest{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("a method that is not implemented: %v", err)
	}
}

// A caller that stops waiting leaves the connection to the next one, which gets its own response.
func TestCallsThatEndEarly(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan context.Context, 1), make(chan struct{})
	var dials atomic.Int32
	n := startNode(t, service{readIndex: func(ctx context.Context, req *peerpb.ReadIndexRequest) (*peerpb.ReadIndexResponse, error) {
		if req.GetTerm() == 1 {
			arrived <- ctx
			<-release
		}
		return echo(ctx, req)
	}})
	c := clientOf(t, func(ctx context.Context, p Protocol) (net.Conn, error) {
		dials.Add(1)
		return n.dial(ctx, p)
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	ended := make(chan error)
	go func() {
		_, err := index(ctx, c, 1)
		ended <- err
	}()
	if deadline, ok := (<-arrived).Deadline(); !ok || time.Until(deadline) < 50*time.Minute || time.Until(deadline) > time.Hour {
		t.Errorf("the deadline at the server is %s, %v", deadline, ok)
	}
	cancel()
	if err := <-ended; status.Code(err) != codes.Canceled {
		t.Errorf("a canceled call: %v", err)
	}
	next := make(chan uint64)
	go func() {
		got, err := index(t.Context(), c, 2)
		if err != nil {
			t.Error(err)
		}
		next <- got
	}()
	close(release)
	if got := <-next; got != 2 || dials.Load() != 1 {
		t.Errorf("the next call got %d, on connection %d", got, dials.Load())
	}
	short, stop := context.WithTimeout(t.Context(), time.Nanosecond)
	defer stop()
	if _, err := index(short, c, 3); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("a call without time: %v", err)
	}
}

// A connection that has ended since the last call is replaced; one that ends at once is an error.
func TestCallsReconnect(t *testing.T) {
	t.Parallel()
	first := startNode(t, service{readIndex: echo})
	var at atomic.Pointer[node]
	at.Store(first)
	c := clientOf(t, func(ctx context.Context, p Protocol) (net.Conn, error) { return at.Load().dial(ctx, p) })
	if _, err := index(t.Context(), c, 1); err != nil {
		t.Fatal(err)
	}
	at.Store(startNode(t, service{readIndex: echo}))
	first.stop(t)
	if got, err := index(t.Context(), c, 2); err != nil || got != 2 {
		t.Errorf("after a restart of the peer: %d, %v", got, err)
	}
	at.Load().stop(t)
	if _, err := index(t.Context(), c, 3); status.Code(err) != codes.Unavailable {
		t.Errorf("without a peer: %v", err)
	}
	broken := clientOf(t, func(context.Context, Protocol) (net.Conn, error) {
		client, server := net.Pipe()
		server.Close()
		return client, nil
	})
	if _, err := index(t.Context(), broken, 4); status.Code(err) != codes.Unavailable {
		t.Errorf("a connection that has ended: %v", err)
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	n := startNode(t, service{writes: func(stream peerpb.Store_WritesServer) error {
		if err := stream.SendHeader(metadata.MD{}); err != nil {
			return err
		}
		for {
			batch, err := stream.Recv()
			if err != nil {
				return err
			}
			for _, w := range batch.GetWrites() {
				if w.GetId() == 0 {
					return status.Error(codes.Aborted, "enough")
				}
				if err := stream.Send(&peerpb.WriteResults{Results: []*peerpb.WriteResponse{{Id: w.GetId(), Message: string(w.GetEntry())}}}); err != nil {
					return err
				}
			}
		}
	}})
	stream, err := clientOf(t, n.dial).Writes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Header(); err != nil {
		t.Fatal(err)
	}
	entry := strings.Repeat("e", 100_000) // larger than the buffers
	go func() {
		for id := range uint64(50) {
			if err := stream.Send(&peerpb.WriteBatch{Writes: []*peerpb.WriteRequest{{Id: id + 1, Entry: []byte(entry)}}}); err != nil {
				t.Error(err)
			}
		}
		if err := stream.Send(&peerpb.WriteBatch{Writes: []*peerpb.WriteRequest{{}}}); err != nil {
			t.Error(err)
		}
	}()
	for id := range uint64(50) {
		results, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if r := results.GetResults()[0]; r.GetId() != id+1 || r.GetMessage() != entry {
			t.Errorf("result %d of %d bytes, want %d", r.GetId(), len(r.GetMessage()), id+1)
		}
	}
	if _, err := stream.Recv(); status.Code(err) != codes.Aborted || !strings.Contains(err.Error(), "enough") {
		t.Errorf("the stream ended with %v", err)
	}
	if _, err := stream.Recv(); status.Code(err) != codes.Aborted {
		t.Errorf("a stream that has ended: %v", err)
	}
}

// A handler that returns nil ends the stream with io.EOF; the end of its context ends it at the
// client, and then at the server.
func TestEndsOfStreams(t *testing.T) {
	t.Parallel()
	left := make(chan error, 1)
	n := startNode(t, service{writes: func(stream peerpb.Store_WritesServer) error {
		batch, err := stream.Recv()
		if len(batch.GetWrites()) == 0 && err == nil {
			return nil
		}
		_, err = stream.Recv()
		left <- err
		return err
	}})
	c := clientOf(t, n.dial)
	stream, err := c.Writes(t.Context())
	if err == nil {
		err = stream.Send(&peerpb.WriteBatch{})
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("the stream ended with %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if stream, err = c.Writes(ctx); err == nil {
		err = stream.Send(&peerpb.WriteBatch{Writes: []*peerpb.WriteRequest{{}}})
	}
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := stream.Recv(); status.Code(err) != codes.Canceled {
		t.Errorf("the stream ended with %v", err)
	}
	if err := <-left; err == nil {
		t.Error("the server did not notice")
	}
	if stream, err = c.Writes(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Page(t.Context(), &peerpb.PageRequest{}); err == nil {
		t.Log("the page is refused when it is read")
	}
	n.stop(t)
	if _, err := stream.Recv(); err == nil {
		t.Error("a stream outlives its server")
	}
}

func TestLargeMessages(t *testing.T) {
	t.Parallel()
	n := startNode(t, service{readIndex: func(context.Context, *peerpb.ReadIndexRequest) (*peerpb.ReadIndexResponse, error) {
		return &peerpb.ReadIndexResponse{Message: strings.Repeat("x", maxFrameBytes)}, nil
	}})
	var counted atomic.Int32
	conn := NewConn(n.dial, noFallback{}, func() { counted.Add(1) })
	defer conn.Close()
	c := peerpb.NewStoreClient(conn)
	if _, err := c.ReadIndex(t.Context(), &peerpb.ReadIndexRequest{ClusterId: strings.Repeat("x", maxFrameBytes)}); err == nil || counted.Load() != 1 {
		t.Errorf("a large request: %v, counted %d times", err, counted.Load())
	}
	if _, err := index(t.Context(), c, 1); err == nil {
		t.Error("got a large response")
	}
	raw, err := n.dial(t.Context(), Calls)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Write(binary.BigEndian.AppendUint32(nil, maxFrameBytes+1)); err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Write([]byte{byte(kindCall)}); err != nil {
		t.Fatal(err)
	}
	if err := raw.SetReadDeadline(time.Now().Add(bodyTimeout / 2)); err != nil { // before the server gives up waiting for the rest
		t.Fatal(err)
	}
	if _, err := raw.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the server did not close the connection: %v", err)
	}
}

// End waits for streams, closes the connections of calls, and accepts nothing more.
func TestEnd(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	n := startNode(t, service{readIndex: echo, writes: func(stream peerpb.Store_WritesServer) error {
		if err := stream.SendHeader(metadata.MD{}); err != nil {
			return err
		}
		<-release
		return stream.Send(&peerpb.WriteResults{Last: true})
	}})
	c := clientOf(t, n.dial)
	stream, err := c.Writes(t.Context())
	if err == nil {
		_, err = stream.Header()
	}
	if err == nil {
		_, err = index(t.Context(), c, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { n.server.End(context.Background()); close(ended) }()
	for { // until the listeners are closed
		if _, err := index(t.Context(), c, 1); err != nil {
			break
		}
	}
	select {
	case <-ended:
		t.Error("End did not wait for the stream")
	default:
	}
	close(release)
	if results, err := stream.Recv(); err != nil || !results.GetLast() {
		t.Errorf("the last message: %v, %v", results, err)
	}
	<-ended
}
