package transport

import "net"

// AcceptRaft returns the next connection for Raft.
func (m *Mux) AcceptRaft() (net.Conn, error) { return m.consumers[ProtocolRaft].Accept() }

// Served returns how many connections of peers the Raft library serves.
func Served(t *Raft) int {
	t.stream.accepted.mu.Lock()
	defer t.stream.accepted.mu.Unlock()
	return len(t.stream.accepted.open)
}
