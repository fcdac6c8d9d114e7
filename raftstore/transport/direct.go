package transport

import (
	"context"
	"crypto/tls"
	"net"
	"strings"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"quorate/raftstore/direct"
)

// protocolOf returns the name of a protocol in the handshake.
func protocolOf(p direct.Protocol) string {
	if p == direct.Calls {
		return protocolCalls
	}
	return protocolStreams
}

// Direct returns the listener of the connections for a protocol of package direct.
func (m *Mux) Direct(p direct.Protocol) net.Listener { return m.consumers[protocolOf(p)] }

// DialDirect connects to the peer name for a protocol of package direct. The error wraps
// direct.ErrNotOffered if the peer does not know the protocol.
func (m *Mux) DialDirect(ctx context.Context, name, address string, p direct.Protocol) (net.Conn, error) {
	return m.Dial(ctx, name, address, protocolOf(p))
}

// CountTooLarge counts a message between nodes that was refused for its size.
func (m *Mux) CountTooLarge() { m.metrics.hit(limitMessageBytes) }

// isNotOffered reports whether a handshake failed because the server offers no protocol of the
// client. Package tls exports no value for this alert of RFC 7301.
func isNotOffered(err error) bool { return strings.Contains(err.Error(), "no application protocol") }

// PeerContext returns a context in which PeerName returns the name of the node at the other end of a
// connection.
func PeerContext(ctx context.Context, c net.Conn) context.Context {
	p := &peer.Peer{Addr: c.RemoteAddr(), LocalAddr: c.LocalAddr()}
	if t, ok := c.(interface{ ConnectionState() tls.ConnectionState }); ok {
		p.AuthInfo = credentials.TLSInfo{
			State:          t.ConnectionState(),
			CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity},
		}
	}
	return peer.NewContext(ctx, p)
}
