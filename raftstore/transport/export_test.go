package transport

import "net"

// AcceptRaft returns the next connection for Raft.
func (m *Mux) AcceptRaft() (net.Conn, error) { return m.consumers[ProtocolRaft].Accept() }
