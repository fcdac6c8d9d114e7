package gossip

import (
	"context"
	"errors"
	"net"
	"sync"
)

const (
	// maxStreams bounds the connections that are read at a time. memberlist reads a message whole
	// before it can tell whether its sender has the key, so this bounds what strangers can take up.
	maxStreams = 32
	// maxStreamsPerAddress leaves room for others when one address opens connections and says
	// nothing.
	maxStreamsPerAddress = 8
	// maxStreamBytes bounds what is read of one connection: a node takes some 300 bytes in the
	// state that nodes exchange, so this is enough for thousands.
	maxStreamBytes = 1 << 20
)

// The bounds that can be hit: the values of the label "limit".
const (
	limitStreams        = "streams"
	limitAddressStreams = "streams_per_address"
	limitStreamBytes    = "stream_bytes"
	limitLogLines       = "log_lines"
)

// errStreamTooLong ends a connection that sends more than maxStreamBytes.
var errStreamTooLong = errors.New("more is sent than the state of a cluster takes")

// streams admits connections from others to memberlist, up to the bounds above.
type streams struct {
	metrics  *metrics
	admitted chan net.Conn

	mu     sync.Mutex
	total  int
	byHost map[string]int
}

func newStreams(m *metrics) *streams {
	return &streams{metrics: m, admitted: make(chan net.Conn), byHost: make(map[string]int)}
}

// start runs s until the function that it returns is called.
func (s *streams) start(accepted <-chan net.Conn) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.run(ctx, accepted) })
	return func() {
		cancel()
		running.Wait()
	}
}

// run passes accepted connections on until ctx ends, and closes those over a bound at once: their
// senders try again with the next exchange.
func (s *streams) run(ctx context.Context, accepted <-chan net.Conn) {
	for {
		select {
		case <-ctx.Done():
			return
		case conn := <-accepted:
			admitted, limit := s.admit(conn)
			if limit != "" {
				s.metrics.limits.WithLabelValues(limit).Inc()
				_ = conn.Close() // its sender learns of it, or is gone
				continue
			}
			select {
			case s.admitted <- admitted:
			case <-ctx.Done():
				_ = admitted.Close()
				return
			}
		}
	}
}

// admit counts a connection, or returns the bound that it is over.
func (s *streams) admit(conn net.Conn) (admitted net.Conn, limit string) {
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		host = conn.RemoteAddr().String()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.total >= maxStreams:
		return nil, limitStreams
	case s.byHost[host] >= maxStreamsPerAddress:
		return nil, limitAddressStreams
	}
	s.total++
	s.byHost[host]++
	return &boundedConn{Conn: conn, left: maxStreamBytes, metrics: s.metrics, closed: func() { s.release(host) }}, ""
}

func (s *streams) release(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.byHost[host]--; s.byHost[host] == 0 {
		delete(s.byHost, host)
	}
}

// boundedConn reads at most so many bytes.
type boundedConn struct {
	net.Conn
	metrics *metrics
	left    int // touched by the reader alone
	once    sync.Once
	closed  func()
}

// Read implements net.Conn. It returns errStreamTooLong once the bound is reached.
func (c *boundedConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if c.left == 0 {
		c.metrics.limits.WithLabelValues(limitStreamBytes).Inc()
		return 0, errStreamTooLong
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	c.once.Do(c.closed)
	return c.Conn.Close()
}
