package transport

import (
	"net"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// socket is the TCP connection below TLS. It closes itself when a write fails, for instance at a
// deadline. The peer then has at most a part of the record, but TLS has counted the record as sent.
// Whatever TLS wrote next, such as the close_notify of Close, would have a sequence number that the
// peer does not expect, and the peer would log "tls: bad record MAC" although nobody forged a
// record.
//
// It counts the bytes sent after the handshake, by which the peer is known.
type socket struct {
	net.Conn
	sent atomic.Pointer[prometheus.Counter] // nil before
}

// Write implements net.Conn.
func (s *socket) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	if sent := s.sent.Load(); sent != nil {
		(*sent).Add(float64(n))
	}
	if err != nil {
		s.Conn.Close()
	}
	return n, err
}
