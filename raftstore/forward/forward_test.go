package forward_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"reflect"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"quorate/proto/peerpb"
	"quorate/raftstore/forward"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
	"quorate/raftstore/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// leader answers writes as the test says.
type leader struct {
	peerpb.UnimplementedStoreServer
	took   chan struct{} // receives when a write has arrived
	answer chan *peerpb.WriteResponse
}

func (l *leader) Write(ctx context.Context, _ *peerpb.WriteRequest) (*peerpb.WriteResponse, error) {
	l.took <- struct{}{}
	select {
	case resp := <-l.answer:
		return resp, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func mux(t *testing.T, authority *testcluster.Authority, name string) *transport.Mux {
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

func serve(t *testing.T, m *transport.Mux) (*leader, *grpc.Server) {
	t.Helper()
	l := &leader{took: make(chan struct{}, 1), answer: make(chan *peerpb.WriteResponse, 1)}
	s := grpc.NewServer(transport.ServerOptions()...)
	peerpb.RegisterStoreServer(s, l)
	var work sync.WaitGroup
	work.Go(func() { _ = s.Serve(m.GRPC()) })
	t.Cleanup(func() { s.Stop(); work.Wait() })
	return l, s
}

// TestWhatWasSent: only what never left this node may be sent again (I23).
func TestWhatWasSent(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	server := mux(t, authority, "leader")
	l, rpc := serve(t, server)
	client := forward.NewClient(mux(t, authority, "follower").Connect)
	t.Cleanup(func() { client.Close() })
	write := func(ctx context.Context, address string) (*peerpb.WriteResponse, error) {
		return client.Write(ctx, "leader", address, &peerpb.WriteRequest{Entry: []byte("x")})
	}
	timeout := func(d time.Duration) context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		t.Cleanup(cancel)
		return ctx
	}

	t.Run("nobody_listens", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := l.Addr().String()
		l.Close()
		if _, err := write(timeout(10*time.Second), address); !errors.Is(err, forward.ErrNotSent) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("another_cluster_listens", func(t *testing.T) {
		stranger := mux(t, testcluster.NewAuthority(t), "stranger")
		if _, err := write(timeout(10*time.Second), stranger.Addr().String()); !errors.Is(err, forward.ErrNotSent) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("answered", func(t *testing.T) {
		l.answer <- &peerpb.WriteResponse{Outcome: peerpb.Outcome_APPLIED, Index: 7}
		resp, err := write(timeout(10*time.Second), server.Addr().String())
		if err != nil || resp.GetIndex() != 7 {
			t.Errorf("got %v, %v", resp, err)
		}
		<-l.took
	})
	t.Run("deadline_passes_with_the_write_at_the_leader", func(t *testing.T) {
		_, err := write(timeout(200*time.Millisecond), server.Addr().String())
		if err == nil || errors.Is(err, forward.ErrNotSent) {
			t.Errorf("got %v", err)
		}
		<-l.took
	})
	t.Run("leader_dies_with_the_write", func(t *testing.T) {
		failed := make(chan error, 1)
		go func() { _, err := write(timeout(10*time.Second), server.Addr().String()); failed <- err }()
		<-l.took
		rpc.Stop()
		if err := <-failed; err == nil || errors.Is(err, forward.ErrNotSent) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("closed", func(t *testing.T) {
		client.Close()
		if _, err := write(timeout(time.Second), server.Addr().String()); !errors.Is(err, forward.ErrNotSent) {
			t.Errorf("got %v", err)
		}
	})
}

func TestRefusals(t *testing.T) {
	s := forward.Subject{Key: "pods\x00ns\x00p", Guard: "namespaces\x00\x00ns", Version: 5, UID: "u"}
	for _, refusal := range []error{
		&state.Exists{Key: s.Key},
		&state.NotFound{Key: s.Key},
		&state.Conflict{Key: s.Key, Want: 5, Have: 9},
		&state.UIDMismatch{Key: s.Key, Want: "u", Have: "v"},
		&state.GuardFailed{Guard: s.Guard},
		&state.GuardFailed{Guard: s.Guard, Sealed: true},
	} {
		if got := s.Decode(forward.Encode(refusal)); !reflect.DeepEqual(got, refusal) {
			t.Errorf("%T came back as %#v", refusal, got)
		}
	}
	if forward.Encode(errors.New("other")) != nil || s.Decode(&peerpb.Refusal{}) != nil {
		t.Error("something else passed for a refusal")
	}
}
