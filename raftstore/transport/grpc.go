package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/peer"
)

const (
	// maxMessageBytes bounds one message between nodes, which is buffered whole. Entries are far
	// smaller: see raftstore.MaxEntryBytes.
	maxMessageBytes = 16 << 20
	// windowBytes keeps a single connection per peer from stalling on flow control.
	windowBytes = 4 << 20
	// keepaliveTime is the silence after which a connection is probed, so that requests that wait
	// for a dead peer fail.
	keepaliveTime    = 5 * time.Second
	keepaliveTimeout = 5 * time.Second
)

// ServerOptions returns the options of the gRPC server on Mux.GRPC, whose connections have
// completed the TLS handshake.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.Creds(established{insecure.NewCredentials()}),
		grpc.MaxRecvMsgSize(maxMessageBytes),
		grpc.InitialWindowSize(windowBytes),
		grpc.InitialConnWindowSize(windowBytes),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepaliveTime, Timeout: keepaliveTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: keepaliveTime / 2, PermitWithoutStream: true}),
	}
}

// Connect returns a gRPC client of the node called name at address. Its connections fail if another
// node listens there; an empty name accepts any node. The client dials with its first request, and
// again after a connection breaks.
func (m *Mux) Connect(name, address string, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	options = append([]grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()), // the dialler does the handshake
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return m.Dial(ctx, name, address, ProtocolGRPC)
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessageBytes)),
		grpc.WithUnaryInterceptor(m.countTooLarge),
		grpc.WithStreamInterceptor(m.countTooLargeStream),
		grpc.WithInitialWindowSize(windowBytes),
		grpc.WithInitialConnWindowSize(windowBytes),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveTime, Timeout: keepaliveTimeout}),
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableRetry(),
		grpc.WithNoProxy(),
	}, options...)
	client, err := grpc.NewClient("passthrough:///"+address, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to peer %s: %w", address, err)
	}
	return client, nil
}

// PeerName returns the name of the node that sent a gRPC request, from its certificate.
func PeerName(ctx context.Context) (string, error) {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return "", errors.New("request has no peer")
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.PeerCertificates) == 0 {
		return "", errors.New("request came without a certificate")
	}
	return NameOf(info.State.PeerCertificates[0])
}

// countTooLarge is a grpc.UnaryClientInterceptor that counts the calls that fail because the
// request or the response exceeds maxMessageBytes. In calls between nodes only this bound exhausts
// a resource. The caller counts for both nodes: an interceptor of the server does not see the
// refusal of a unary request, and a stats.Handler of the server costs each call more CPU time.
func (m *Mux) countTooLarge(ctx context.Context, method string, request, response any, conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	err := invoke(ctx, method, request, response, conn, options...)
	m.metrics.countTooLarge(err)
	return err
}

// countTooLargeStream is countTooLarge for streams.
func (m *Mux) countTooLargeStream(ctx context.Context, description *grpc.StreamDesc, conn *grpc.ClientConn, method string,
	open grpc.Streamer, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(ctx, description, conn, method, options...)
	if err != nil {
		return nil, err
	}
	return boundedStream{stream, m.metrics}, nil
}

// boundedStream is a stream that ends with an error if a message of either node is too large.
type boundedStream struct {
	grpc.ClientStream
	metrics *metrics
}

// RecvMsg receives a message. Its error is the end of the stream, also if a sent message was too
// large.
func (s boundedStream) RecvMsg(message any) error {
	err := s.ClientStream.RecvMsg(message)
	s.metrics.countTooLarge(err)
	return err
}

// established accepts connections whose TLS handshake the Mux has completed, and passes the result
// of the handshake to gRPC.
type established struct {
	credentials.TransportCredentials
}

func (established) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	c, ok := raw.(interface{ ConnectionState() tls.ConnectionState })
	if !ok {
		return nil, nil, errors.New("connection without TLS on the peer address")
	}
	return raw, credentials.TLSInfo{
		State:          c.ConnectionState(),
		CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity},
	}, nil
}

func (e established) Clone() credentials.TransportCredentials {
	return established{e.TransportCredentials.Clone()}
}
