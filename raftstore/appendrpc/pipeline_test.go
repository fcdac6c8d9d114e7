package appendrpc

import (
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a Server on a loopback address.
type server struct {
	*Server
	requests chan raft.RPC
	tooLarge atomic.Int64
	address  string
}

func newServer(t *testing.T) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{requests: make(chan raft.RPC), address: l.Addr().String()}
	s.Server = NewServer(s.requests, func() { s.tooLarge.Add(1) }, slog.New(slog.DiscardHandler))
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.Close()
		serving.Wait()
	})
	return s
}

func (s *server) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func (s *server) pipeline(t *testing.T, timeout time.Duration) *Pipeline {
	t.Helper()
	p := NewPipeline(s.dial(t), timeout, func() {})
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func request(index uint64) *raft.AppendEntriesRequest {
	return &raft.AppendEntriesRequest{Term: 1, PrevLogEntry: index - 1, Entries: []*raft.Log{{Index: index, Data: []byte("x")}}}
}

// Responses come in the order of the requests, with their errors. The server has one request at a
// time, and no more than one waits for it.
func TestPipeline(t *testing.T) {
	s := newServer(t)
	p := s.pipeline(t, 10*time.Second)
	const count = 50
	var sent atomic.Int64
	var sending sync.WaitGroup
	sending.Go(func() {
		for i := range uint64(count) {
			if _, err := p.AppendEntries(request(i+1), new(raft.AppendEntriesResponse)); err != nil {
				t.Error(err)
				return
			}
			sent.Add(1)
		}
	})
	for i := range uint64(count) {
		rpc := <-s.requests
		req := rpc.Command.(*raft.AppendEntriesRequest)
		if req.PrevLogEntry != i || len(req.Entries) != 1 || req.Entries[0].Index != i+1 {
			t.Errorf("request %d is %+v", i, req)
		}
		if n := sent.Load(); n > int64(i)+1 {
			t.Errorf("%d requests were sent while the server had %d", n, i)
		}
		var err error
		if i%2 == 1 {
			err = errors.New("odd")
		}
		rpc.Respond(&raft.AppendEntriesResponse{Success: err == nil, LastLog: i}, err)
		f := <-p.Consumer()
		if f.Request().PrevLogEntry != i || f.Response().LastLog != i || (f.Error() != nil) != (err != nil) || f.Response().Success != (err == nil) {
			t.Errorf("response %d is %+v, %v", i, f.Response(), f.Error())
		}
	}
	sending.Wait()
}

// A raft whose response is only an error, as while it shuts down.
func TestErrorWithoutResponse(t *testing.T) {
	s := newServer(t)
	p := s.pipeline(t, 10*time.Second)
	if _, err := p.AppendEntries(request(1), new(raft.AppendEntriesResponse)); err != nil {
		t.Fatal(err)
	}
	rpc := <-s.requests
	rpc.Respond(nil, errors.New("shut down"))
	if f := <-p.Consumer(); f.Error() == nil || f.Error().Error() != "shut down" || f.Response().Success {
		t.Errorf("got %+v, %v", f.Response(), f.Error())
	}
}

// All requests fail once the follower has not responded in time, or the connection has ended, and
// none takes the response to an earlier one.
func TestFailedResponse(t *testing.T) {
	for name, fail := range map[string]func(*server, raft.RPC){
		"silence": func(*server, raft.RPC) {},
		"end":     func(s *server, _ raft.RPC) { s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			p := s.pipeline(t, 300*time.Millisecond)
			first, err := p.AppendEntries(request(1), new(raft.AppendEntriesResponse))
			if err != nil {
				t.Fatal(err)
			}
			rpc := <-s.requests
			fail(s, rpc)
			if f := <-p.Consumer(); f != first || f.Error() == nil {
				t.Fatalf("got %+v, %v", f.Response(), f.Error())
			}
			rpc.Respond(&raft.AppendEntriesResponse{Success: true}, nil)
			second, err := p.AppendEntries(request(2), new(raft.AppendEntriesResponse))
			if err != nil {
				return // the connection has ended
			}
			if f := <-p.Consumer(); f != second || f.Error() == nil || f.Response().Success {
				t.Errorf("got %+v, %v", f.Response(), f.Error())
			}
		})
	}
}

// Close ends a pipeline whose sender waits because the follower does not respond, and one whose
// responses nobody reads.
func TestCloseOfAPipelineInUse(t *testing.T) {
	s := newServer(t)
	p := s.pipeline(t, time.Minute)
	var sending sync.WaitGroup
	ended := make(chan error, 1)
	sending.Go(func() {
		for i := uint64(1); ; i++ {
			if _, err := p.AppendEntries(request(i), new(raft.AppendEntriesResponse)); err != nil {
				ended <- err
				return
			}
		}
	})
	rpc := <-s.requests
	rpc.Respond(&raft.AppendEntriesResponse{Success: true}, nil)
	<-s.requests // the second; the response to the first is not read
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("a request was sent by a closed pipeline")
	}
	sending.Wait()
}

// Close ends a connection on which nothing arrives.
func TestCloseOfAnIdleServer(t *testing.T) {
	s := newServer(t)
	conn := s.dial(t)
	p := NewPipeline(conn, 10*time.Second, func() {})
	defer p.Close()
	if _, err := p.AppendEntries(request(1), new(raft.AppendEntriesResponse)); err != nil {
		t.Fatal(err)
	}
	rpc := <-s.requests
	rpc.Respond(&raft.AppendEntriesResponse{Success: true}, nil)
	<-p.Consumer()
	var closing sync.WaitGroup
	closing.Go(s.Close)
	defer closing.Wait()
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
}

// A frame that is too large or no request ends its connection, and reaches nobody.
func TestServerRefuses(t *testing.T) {
	frame := func(size uint32, content string) []byte {
		return append(binary.BigEndian.AppendUint32(nil, size), content...)
	}
	for name, c := range map[string]struct {
		sent     []byte
		tooLarge int64
	}{
		"too large":    {frame(maxFrameBytes+1, ""), 1},
		"no request":   {frame(3, "abc"), 0},
		"empty":        {frame(0, ""), 0},
		"not complete": {frame(30, "abc"), 0},
	} {
		t.Run(name, func(t *testing.T) { wantRefusal(t, c.sent, c.tooLarge) })
	}
}

// wantRefusal checks that a server ends a connection on which bytes are sent, and responds nothing.
func wantRefusal(t *testing.T, sent []byte, tooLarge int64) {
	t.Helper()
	s := newServer(t)
	conn := s.dial(t)
	if _, err := conn.Write(sent); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); len(got) > 0 {
		t.Errorf("got %q, %v", got, err)
	}
	if n := s.tooLarge.Load(); n != tooLarge {
		t.Errorf("%d frames were too large", n)
	}
}

// A request that is too large fails, and the follower gets nothing of it.
func TestLargeRequest(t *testing.T) {
	s := newServer(t)
	p := s.pipeline(t, 10*time.Second)
	large := request(1)
	large.Entries[0].Data = make([]byte, maxFrameBytes)
	if _, err := p.AppendEntries(large, new(raft.AppendEntriesResponse)); !errors.Is(err, errTooLarge) {
		t.Errorf("got %v", err)
	}
	most := request(1)
	most.Entries[0].Data = make([]byte, maxFrameBytes-100)
	p = s.pipeline(t, 10*time.Second)
	if _, err := p.AppendEntries(most, new(raft.AppendEntriesResponse)); err != nil {
		t.Fatal(err)
	}
	rpc := <-s.requests
	if got := rpc.Command.(*raft.AppendEntriesRequest).Entries[0].Data; len(got) != maxFrameBytes-100 {
		t.Errorf("%d bytes arrived", len(got))
	}
	rpc.Respond(&raft.AppendEntriesResponse{Success: true}, nil)
	if f := <-p.Consumer(); f.Error() != nil {
		t.Error(f.Error())
	}
}
