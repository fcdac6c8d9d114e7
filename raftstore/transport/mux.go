package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore/direct"
)

const (
	// maxLost bounds the lost peers that wait for a receiver of Lost; further ones are dropped.
	maxLost = 16
	// maxAcceptDelay bounds the pause after a failed accept (out of file descriptors).
	maxAcceptDelay = time.Second
)

// Config configures a Mux.
type Config struct {
	// Addr is the address to listen on.
	Addr string
	// Advertise is the host:port that peers dial; empty means the address listened on.
	Advertise string
	// TLS holds the node's certificate (Certificates, or GetCertificate and GetClientCertificate)
	// and in RootCAs the cluster's authority. The verification of peers is added here.
	TLS *tls.Config
	// HandshakeTimeout defaults to 5 s.
	HandshakeTimeout time.Duration
	// Members returns the names of the present members and the host:port at which others dial them.
	// Handshakes from their addresses have priority. It must not block, and may be nil.
	Members    func() map[string]string
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Mux listens on the peer address and dials those of other nodes. Raft and GRPC return the
// consumers of new connections.
type Mux struct {
	cfg       Config
	listener  net.Listener
	advertise net.Addr
	server    *tls.Config
	clients   map[string]*tls.Config  // by protocol
	consumers map[string]*subListener // by protocol
	lost      chan string             // names of peers whose Raft connections have ended
	admission *admission
	refusals  refusals
	metrics   *metrics

	mu     sync.Mutex
	conns  map[*conn]string // accepted and not closed, with the peer's name once it is known
	closed bool
}

// Listen binds the peer address. Run accepts connections.
func Listen(cfg Config) (*Mux, error) {
	if cfg.TLS == nil || cfg.TLS.RootCAs == nil {
		return nil, errors.New("listen on peer address: no TLS identity")
	}
	if cfg.HandshakeTimeout <= 0 {
		cfg.HandshakeTimeout = defaultHandshakeTimeout
	}
	listener, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("listen on peer address %s: %w", cfg.Addr, err)
	}
	advertise := listener.Addr()
	if cfg.Advertise != "" {
		advertise = peerAddr(cfg.Advertise)
	}
	metrics := newMetrics(cfg.Registerer)
	clients, consumers := map[string]*tls.Config{}, map[string]*subListener{}
	for _, protocol := range protocols() {
		clients[protocol], consumers[protocol] = clientTLS(cfg.TLS, protocol), newSubListener(advertise)
	}
	return &Mux{
		cfg:       cfg,
		listener:  listener,
		advertise: advertise,
		server:    serverTLS(cfg.TLS),
		clients:   clients,
		consumers: consumers,
		lost:      make(chan string, maxLost),
		admission: &admission{metrics: metrics, members: newMemberAddresses(cfg.Members, metrics)},
		refusals:  newRefusals(cfg.Logger, metrics),
		metrics:   metrics,
		conns:     make(map[*conn]string),
	}, nil
}

// Addr returns the address that peers dial.
func (m *Mux) Addr() net.Addr { return m.advertise }

// GRPC returns the listener of gRPC connections, for grpc.Server.Serve of a server with
// ServerOptions.
func (m *Mux) GRPC() net.Listener { return m.consumers[ProtocolGRPC] }

// Run accepts connections until ctx ends, then closes the listener and every accepted connection,
// and returns nil.
func (m *Mux) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, m.close)
	defer stop()
	defer m.close()

	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	running.Go(func() { m.admission.members.run(ctx) })
	var delay time.Duration
	for {
		raw, err := m.listener.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			delay = min(max(2*delay, 5*time.Millisecond), maxAcceptDelay)
			m.cfg.Logger.Warn("peer connection not accepted", "error", err, "delay", delay)
			wait(ctx, delay)
			continue
		}
		delay = 0
		if h := m.admission.admit(ctx, raw); h != nil {
			running.Go(func() { m.handleConn(ctx, h) })
		}
	}
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (m *Mux) track(c *conn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.conns[c] = ""
	m.metrics.open.Set(float64(len(m.conns)))
	return true
}

func (m *Mux) identify(c *conn, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, open := m.conns[c]; open {
		m.conns[c] = name
	}
}

// Disconnect closes the connections accepted from a peer. The handshake decides whether it may
// connect again.
func (m *Mux) Disconnect(name string) {
	m.mu.Lock()
	var from []*conn
	for c, peer := range m.conns {
		if peer == name {
			from = append(from, c)
		}
	}
	m.mu.Unlock()
	for _, c := range from {
		cutOff(c.Conn) // the server of the connection then closes it
	}
}

func (m *Mux) forget(c *conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.conns, c)
	m.metrics.open.Set(float64(len(m.conns)))
}

// Close closes a Mux whose Run was never called.
func (m *Mux) Close() error {
	m.close()
	return nil
}

// close closes the listener and all connections, and may be called more than once. It closes the
// sockets below TLS, because the TLS alert would wait for a peer that doesn't read.
func (m *Mux) close() {
	m.mu.Lock()
	m.closed = true
	conns := make([]*conn, 0, len(m.conns))
	for c := range m.conns {
		conns = append(conns, c)
	}
	m.mu.Unlock()

	m.listener.Close()
	for _, l := range m.consumers {
		l.Close()
	}
	for _, c := range conns {
		cutOff(c.Conn)
		m.forget(c)
	}
}

// Dial connects to the peer name for one protocol and completes the handshake. It fails if another
// node listens at address; an empty name accepts any node. The error is meant for an operator.
func (m *Mux) Dial(ctx context.Context, name, address, protocol string) (net.Conn, error) {
	cfg, ok := m.clients[protocol]
	if !ok {
		return nil, fmt.Errorf("dial peer %s: no such protocol %q", address, protocol)
	}
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("dial peer %s: %w", address, err)
	}
	counted := &socket{Conn: raw}
	c := tls.Client(counted, cfg)
	if err := c.HandshakeContext(ctx); err != nil {
		raw.Close()
		if isNotOffered(err) {
			err = errors.Join(direct.ErrNotOffered, err)
		}
		return nil, fmt.Errorf("dial peer %s: %s: %w", address, reason(err), err)
	}
	got, err := NameOf(c.ConnectionState().PeerCertificates[0])
	if err != nil || name != "" && got != name {
		raw.Close()
		return nil, fmt.Errorf("dial peer %s: it is node %q, not %q", address, got, name)
	}
	if got := c.ConnectionState().NegotiatedProtocol; got != protocol {
		raw.Close()
		return nil, fmt.Errorf("dial peer %s: it does not speak %s", address, protocol)
	}
	counted.sent.Store(m.metrics.sentTo(got))
	return c, nil
}

// conn is an accepted connection that the Mux closes when it ends.
type conn struct {
	*tls.Conn
	mux  *Mux
	peer string // the peer's name, for Raft; empty for other protocols
}

func (c *conn) Close() error {
	c.mux.forget(c)
	if c.peer != "" {
		select {
		case c.mux.lost <- c.peer:
		default:
		}
	}
	return c.Conn.Close()
}
