package direct

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/proto/peerpb"
)

// A peer of an older build is served by the fallback, and asked again a minute later.
func TestFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		c := NewConn(func(context.Context, Protocol) (net.Conn, error) {
			asked++
			return nil, fmt.Errorf("handshake: %w", ErrNotOffered)
		}, noFallback{}, func() {})
		store := peerpb.NewStoreClient(c)
		for range 3 {
			if _, err := index(t.Context(), store, 1); err == nil || err.Error() != "fallback" {
				t.Errorf("a call: %v", err)
			}
			if _, err := store.Writes(t.Context()); err == nil || err.Error() != "fallback" {
				t.Errorf("a stream: %v", err)
			}
		}
		if asked != 1 {
			t.Errorf("the peer was asked %d times", asked)
		}
		time.Sleep(fallbackTime + time.Second)
		_, _ = index(t.Context(), store, 1) // fails as above
		if asked != 2 {
			t.Errorf("after a while the peer was asked %d times", asked)
		}
	})
}

// pipes is a server whose connections are pipes, for a bubble of synctest.
func pipes(s service) (dial Dial, end func()) {
	server := newServer(s)
	dial = func(_ context.Context, p Protocol) (net.Conn, error) {
		client, conn := net.Pipe()
		f := newFramed(conn)
		w := server.add(f, p == Streams)
		go func() {
			defer server.serving.Done()
			defer server.remove(f, w)
			if p == Streams {
				server.serveStream(w.ctx, f)
			} else {
				server.serveCalls(w.ctx, f)
			}
		}()
		return client, nil
	}
	return dial, func() {
		ended, end := context.WithCancel(context.Background())
		end()
		server.End(ended)
	}
}

// A stream outlives a long silence, and ends soon after its peer has stopped responding.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, end := pipes(service{writes: func(stream peerpb.Store_WritesServer) error {
			for {
				batch, err := stream.Recv()
				if err != nil {
					return err
				}
				if err := stream.Send(&peerpb.WriteResults{}); err != nil {
					return err
				}
				if len(batch.GetWrites()) > 0 { // hang
					<-stream.Context().Done()
					return nil
				}
			}
		}})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		stream, err := peerpb.NewStoreClient(NewConn(dial, noFallback{}, func() {})).Writes(ctx)
		if err != nil {
			t.Fatal(err)
		}
		received := make(chan error, 1)
		receive := func() { go func() { _, err := stream.Recv(); received <- err }() }
		receive()
		time.Sleep(time.Hour + time.Second) // between two pings: a pipe has no buffer for messages that cross
		if err := stream.Send(&peerpb.WriteBatch{}); err != nil {
			t.Fatal(err)
		}
		if err := <-received; err != nil {
			t.Fatalf("after an hour without messages: %v", err)
		}
		receive()
		if err := stream.Send(&peerpb.WriteBatch{Writes: []*peerpb.WriteRequest{{}}}); err != nil {
			t.Fatal(err)
		}
		if err := <-received; err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		receive()
		if err := <-received; err == nil || time.Since(start) > 2*(pingInterval+pingTimeout)+writeTimeout {
			t.Errorf("a server that hangs is noticed after %s: %v", time.Since(start), err)
		}
		end()
	})
}

// A peer whose process hangs still takes what is sent, into the buffers of its kernel.
func TestHungServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		go io.Copy(io.Discard, server) // until the client closes it
		c := NewConn(func(context.Context, Protocol) (net.Conn, error) { return client, nil }, noFallback{}, func() {})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		stream, err := peerpb.NewStoreClient(c).Writes(ctx)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := stream.Header(); err == nil || time.Since(start) != pingInterval+pingTimeout {
			t.Errorf("noticed after %s: %v", time.Since(start), err)
		}
	})
}

// A connection on which no call is answered for long is replaced, however short the calls wait.
func TestSilentCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dialed := 0
		c := NewConn(func(context.Context, Protocol) (net.Conn, error) {
			client, server := net.Pipe()
			go io.Copy(io.Discard, server) // until the client closes it
			dialed++
			return client, nil
		}, noFallback{}, func() {})
		store := peerpb.NewStoreClient(c)
		for i, want := range []int{1, 1, 1, 2} { // 2, 4 and 6 seconds after the first
			ctx, cancel := context.WithTimeout(t.Context(), callSilence*2/5)
			if _, err := index(ctx, store, 1); status.Code(err) != codes.DeadlineExceeded {
				t.Errorf("call %d: %v", i, err)
			}
			cancel()
			if dialed != want {
				t.Errorf("after call %d: %d connections, want %d", i, dialed, want)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A peer whose responses come after the callers have gone keeps its connection.
func TestLateResponsesKeepTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var served sync.WaitGroup
		dialed := 0
		c := NewConn(func(context.Context, Protocol) (net.Conn, error) {
			client, server := net.Pipe()
			served.Go(func() { respondLate(newFramed(server), callSilence*3/5) })
			dialed++
			return client, nil
		}, noFallback{}, func() {})
		store := peerpb.NewStoreClient(c)
		for i := range 5 {
			ctx, cancel := context.WithTimeout(t.Context(), callSilence/2)
			if _, err := index(ctx, store, 1); status.Code(err) != codes.DeadlineExceeded {
				t.Errorf("call %d: %v", i, err)
			}
			cancel()
		}
		if dialed != 1 {
			t.Errorf("%d connections", dialed)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		served.Wait()
	})
}

// slowToInterrupt is a connection whose reads are interrupted late, as by a goroutine that runs
// late.
type slowToInterrupt struct{ net.Conn }

func (c slowToInterrupt) SetReadDeadline(t time.Time) error {
	if !t.IsZero() && t.Before(time.Now()) {
		time.Sleep(time.Millisecond)
	}
	return c.Conn.SetReadDeadline(t)
}

// A call whose caller has gone does not interrupt the next one.
func TestEndedCallSparesTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const delay = time.Second
		var served sync.WaitGroup
		c := NewConn(func(context.Context, Protocol) (net.Conn, error) {
			client, server := net.Pipe()
			served.Go(func() { respondLate(newFramed(server), delay) })
			return slowToInterrupt{client}, nil
		}, noFallback{}, func() {})
		store := peerpb.NewStoreClient(c)
		ctx, cancel := context.WithTimeout(t.Context(), delay/2)
		defer cancel()
		if _, err := index(ctx, store, 1); status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("a call of half a second: %v", err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), 10*delay)
		defer cancel()
		start := time.Now()
		if _, err := index(ctx, store, 1); err != nil || time.Since(start) >= 2*delay {
			t.Errorf("the next call, after %s: %v", time.Since(start), err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		served.Wait()
	})
}

// respondLate takes all calls of a connection at once, and responds to one after the other.
func respondLate(conn *framed, after time.Duration) {
	calls := make(chan []byte, 10)
	go func() {
		defer close(calls)
		for {
			_, content, err := conn.read()
			if err != nil {
				return // the client has closed it
			}
			calls <- bytes.Clone(content[:8]) // its number
		}
	}()
	for number := range calls {
		time.Sleep(after)
		ok := append(number, make([]byte, returnBytes-len(number))...)
		if conn.write(kindReturn, ok, &peerpb.ReadIndexResponse{Index: 1}) != nil { // it is closed
			conn.Close()
		}
	}
}

// A server drops a client that is silent, and calls that nobody makes.
func TestSilentClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := make(chan error, 1)
		dial, end := pipes(service{readIndex: echo, writes: func(stream peerpb.Store_WritesServer) error {
			_, err := stream.Recv()
			left <- err
			return err
		}})
		conn, _ := dial(t.Context(), Streams)
		client := newFramed(conn)
		if err := client.write(kindMethod, []byte(peerpb.Store_Writes_FullMethodName), nil); err != nil {
			t.Fatal(err)
		}
		go io.Copy(io.Discard, conn) // until the server closes it
		start := time.Now()
		if err := <-left; err == nil || time.Since(start) != silence {
			t.Errorf("dropped after %s: %v", time.Since(start), err)
		}
		c := NewConn(dial, noFallback{}, func() {})
		for range 2 {
			if _, err := index(t.Context(), peerpb.NewStoreClient(c), 1); err != nil {
				t.Error(err)
			}
			time.Sleep(2 * idleTimeout)
		}
		end()
		_ = c.Close() // the server has closed it
	})
}
