package appendrpc

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

const (
	// bodyTimeout bounds the time between the first and the last byte of a frame.
	bodyTimeout = 30 * time.Second
	// responseTimeout bounds the sending of a response: a leader that does not read it must not hold
	// the connection's goroutine for longer.
	responseTimeout = 10 * time.Second
)

// Server receives appends.
type Server struct {
	requests chan<- raft.RPC
	tooLarge func()
	logger   *slog.Logger
	closing  chan struct{} // closed by Close
	serving  sync.WaitGroup

	mu     sync.Mutex
	open   map[net.Conn]bool // guarded by mu, as the rest
	closed bool
}

// NewServer returns a Server that passes requests to a channel. It calls tooLarge for each request
// beyond maxFrameBytes, which ends the connection.
func NewServer(requests chan<- raft.RPC, tooLarge func(), logger *slog.Logger) *Server {
	return &Server{requests: requests, tooLarge: tooLarge, logger: logger, closing: make(chan struct{}), open: map[net.Conn]bool{}}
}

// Serve serves the connections of l until l is closed. Close ends the connections.
func (s *Server) Serve(l net.Listener) error {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept the connection of a leader: %w", err)
		}
		if !s.add(c) {
			c.Close()
			continue
		}
		go func() {
			defer s.serving.Done()
			defer s.remove(c)
			if err := s.serve(newFramed(c)); err != nil && !errors.Is(err, net.ErrClosed) {
				s.logger.Warn("the connection for a leader's appends ended", "remote-address", c.RemoteAddr().String(), "error", err)
			}
		}()
	}
}

// add adds a connection, unless the server is closed.
func (s *Server) add(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.open[c] = true
	s.serving.Add(1)
	return true
}

func (s *Server) remove(c net.Conn) {
	s.mu.Lock()
	delete(s.open, c)
	s.mu.Unlock()
	c.Close()
}

// Close closes the connections, and waits until no more requests are passed on. Requests without a
// response get none.
func (s *Server) Close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	for c := range s.open {
		c.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
}

// serve passes on the requests of a connection, one after the other, and responds. It returns nil
// when the leader has closed the connection, or the server is closed.
func (s *Server) serve(conn *framed) error {
	responses := make(chan raft.RPCResponse, 1)
	for {
		req, err := s.receive(conn)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case s.requests <- raft.RPC{Command: req, RespChan: responses}:
		case <-s.closing:
			return nil
		}
		select {
		case answer := <-responses:
			if err := respond(conn, answer); err != nil {
				return err
			}
		case <-s.closing:
			return nil
		}
	}
}

// receive receives the next request. It returns io.EOF if the leader has closed the connection.
func (s *Server) receive(conn *framed) (*raft.AppendEntriesRequest, error) {
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	b, err := conn.read()
	if errors.Is(err, errTooLarge) {
		s.tooLarge()
	}
	if err != nil {
		return nil, err
	}
	return decodeRequest(b)
}

func respond(conn *framed, answer raft.RPCResponse) error {
	resp, ok := answer.Response.(*raft.AppendEntriesResponse)
	if !ok { // there is only an error
		resp = &raft.AppendEntriesResponse{}
	}
	return conn.write(responseTimeout, func(b []byte) []byte { return appendResponse(b, resp, answer.Error) })
}
