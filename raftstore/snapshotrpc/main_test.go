package snapshotrpc

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"quorate/proto/peerpb"
	"quorate/raftstore/lifecycle"
	"quorate/raftstore/snapshot"
	"quorate/raftstore/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// follower is a node that receives snapshots, on a connection without TLS: the sender is always the
// node "leader".
type follower struct {
	peerpb.UnimplementedStoreServer
	t         *testing.T
	dir       string
	snapshots *snapshot.Store
	receiver  *Receiver
	address   string
	server    *grpc.Server

	term  atomic.Uint64
	known atomic.Pointer[string] // the leader that it follows
	full  atomic.Bool            // its disk has no space
	hangs atomic.Pointer[hang]   // nil if it does not hang
}

// hang is where a follower stops responding.
type hang struct{ accepts bool }

func newFollower(t *testing.T) *follower {
	t.Helper()
	f := &follower{t: t, dir: t.TempDir()}
	f.term.Store(3)
	f.follows("leader")
	snapshots, err := snapshot.New(snapshot.Config{Dir: f.dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	f.snapshots = snapshots
	f.receiver = NewReceiver(ReceiverConfig{
		Snapshots: snapshots, ClusterID: func() string { return "c1" }, Term: f.term.Load,
		Leader: func() (string, bool) { name := *f.known.Load(); return name, name != "" },
		Fits: func(int64) error {
			if f.full.Load() {
				return errors.New("the disk is full")
			}
			return nil
		},
		Lifecycle: lifecycle.New(), Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	f.listen()
	return f
}

func (f *follower) follows(leader string) { f.known.Store(&leader) }

// listen serves until the test ends.
func (f *follower) listen() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	f.address, f.server = listener.Addr().String(), grpc.NewServer(grpc.WaitForHandlers(true))
	peerpb.RegisterStoreServer(f.server, f)
	var serving sync.WaitGroup
	serving.Go(func() { _ = f.server.Serve(listener) })
	server := f.server
	f.t.Cleanup(func() {
		f.receiver.End()
		server.Stop()
		serving.Wait()
	})
}

func (f *follower) SendSnapshot(stream peerpb.Store_SendSnapshotServer) error {
	if h := f.hangs.Load(); h != nil {
		if h.accepts {
			if err := stream.Send(&peerpb.SnapshotPosition{}); err != nil {
				return err
			}
		}
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	return f.receiver.Serve("leader", stream)
}

func connect(_, address string, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableRetry())
	return grpc.NewClient("passthrough:///"+address, options...)
}

// leader returns a sender in term 3.
func leader(rate int64) *Sender {
	s := NewSender(SenderConfig{
		Connect: connect, ClusterID: func() string { return "c1" }, Term: func() uint64 { return 3 }, Rate: rate,
		Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	s.resumeTimeout = 5 * time.Second
	return s
}

// reading returns an open snapshot of a size that is about the given one.
func reading(t *testing.T, size int) snapshot.Reading {
	t.Helper()
	store, err := snapshot.New(snapshot.Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	_, trans := raft.NewInmemTransport("")
	k, err := store.Create(1, 20, 2, raft.Configuration{}, 1, trans)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i * i >> 8)
	}
	_, err = k.Write(b)
	if err := errors.Join(err, k.Close()); err != nil {
		t.Fatal(err)
	}
	_, r, err := store.Open(k.ID())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r.(snapshot.Reading)
}

// oldBuild serves a node that does not know transfers, and returns its address.
func oldBuild(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		server.Stop()
		serving.Wait()
	})
	return listener.Addr().String()
}

// to returns what Send sends.
func (f *follower) to(r snapshot.Reading) transport.Outgoing {
	return transport.Outgoing{Follower: "follower", Address: func() string { return f.address }, Term: 3, Snapshot: r}
}

// stream opens a stream to the follower, for messages that no Sender sends.
func (f *follower) stream(ctx context.Context) peerpb.Store_SendSnapshotClient {
	f.t.Helper()
	conn, err := connect("", f.address)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = conn.Close() })
	stream, err := peerpb.NewStoreClient(conn).SendSnapshot(ctx)
	if err != nil {
		f.t.Fatal(err)
	}
	return stream
}

// describe returns the first message of a transfer.
func describe(c snapshot.Content) *peerpb.SnapshotPart {
	return &peerpb.SnapshotPart{Description: &peerpb.SnapshotDescription{
		ClusterId: "c1", LeaderTerm: 3, Index: c.Index, Term: c.Term, Size: uint64(c.Size), Checksum: c.Checksum,
	}}
}

// exchange sends a message and returns the response.
func exchange(stream peerpb.Store_SendSnapshotClient, part *peerpb.SnapshotPart) (*peerpb.SnapshotPosition, error) {
	if err := stream.Send(part); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return stream.Recv()
}

func valueOf(t *testing.T, m prometheus.Metric) float64 {
	t.Helper()
	var d dto.Metric
	if err := m.Write(&d); err != nil {
		t.Fatal(err)
	}
	return d.GetCounter().GetValue() + d.GetGauge().GetValue()
}

// bounded returns a context for a call that should end by itself.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(time.Minute); !condition(); <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}
