package transport

import "net"

// socket is the TCP connection below TLS. It closes itself when a write fails, for instance at a
// deadline. The peer then has at most a part of the record, but TLS has counted the record as sent.
// Whatever TLS wrote next, such as the close_notify of Close, would have a sequence number that the
// peer does not expect, and the peer would log "tls: bad record MAC" although nobody forged a
// record.
type socket struct{ net.Conn }

// Write implements net.Conn.
func (s socket) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	if err != nil {
		s.Conn.Close()
	}
	return n, err
}
