package transport

import "net"

// socket is the TCP connection below TLS. It closes itself when a write fails, such as by a
// deadline: the peer has a part of a record at most, while TLS has counted the record as sent. What
// TLS would write after that, such as the close_notify of Close, has a sequence number that the
// peer does not expect, and the peer would log a forged record (tls: bad record MAC) where there
// was none.
type socket struct{ net.Conn }

// Write implements net.Conn.
func (s socket) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	if err != nil {
		s.Conn.Close()
	}
	return n, err
}
