package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

const (
	// defaultHandshakeTimeout bounds a handshake, and then the wait until the protocol's server
	// accepts the connection.
	defaultHandshakeTimeout = 5 * time.Second
	// helloTimeout bounds the time until the client's ClientHello has arrived. A peer sends it
	// immediately, so this leaves time for one lost packet.
	helloTimeout = 2 * time.Second
	// maxRefusalBurst and maxRefusalRate limit the log lines about refused connections, which
	// anyone can cause.
	maxRefusalBurst = 10
	maxRefusalRate  = 1
)

// The errors of handshakes that did not meet a deadline or agreed on no protocol.
var (
	errNoHello   = errors.New("the client sent no ClientHello in time")
	errTooSlow   = errors.New("the handshake took too long")
	errNoService = errors.New("no protocol agreed on")
)

// handleConn performs the handshake and passes the connection to the server of its protocol.
func (m *Mux) handleConn(ctx context.Context, h *handshake) {
	c := &conn{Conn: tls.Server(h, m.server), mux: m}
	if !m.track(c) {
		m.admission.end(h)
		h.Close()
		return
	}
	err := m.completeHandshake(ctx, c, h)
	m.admission.end(h)
	switch {
	case h.evicted.Load(): // counted by the eviction
		c.Close()
		return
	case err != nil:
		if ctx.Err() == nil { // otherwise the end of Run interrupted it
			m.metrics.refused.Inc()
			m.refusals.log(h.RemoteAddr(), err)
		}
		c.Close()
		return
	}
	name, _ := NameOf(c.ConnectionState().PeerCertificates[0]) // verified in the handshake
	m.identify(c, name)
	h.sent.Store(m.metrics.sentTo(name))
	m.admission.members.saw(name, remoteAddr(h))
	protocol := c.ConnectionState().NegotiatedProtocol
	if protocol == ProtocolRaft {
		c.peer = name
	}
	ctx, cancel := context.WithTimeout(ctx, m.cfg.HandshakeTimeout)
	defer cancel()
	if err := m.consumers[protocol].offer(ctx, c); err != nil {
		c.Close()
	}
}

// completeHandshake returns nil once the client has proved to be a peer and has agreed on a
// protocol.
func (m *Mux) completeHandshake(ctx context.Context, c *conn, h *handshake) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	hello := time.AfterFunc(min(helloTimeout, m.cfg.HandshakeTimeout), func() {
		if h.greeted.Load() == nil {
			cancel(errNoHello)
		}
	})
	defer hello.Stop()
	whole := time.AfterFunc(m.cfg.HandshakeTimeout, func() { cancel(errTooSlow) })
	defer whole.Stop()
	if err := c.HandshakeContext(ctx); err != nil {
		switch cause := context.Cause(ctx); cause {
		case errNoHello:
			m.metrics.hit(limitHelloTime)
			return cause
		case errTooSlow:
			m.metrics.hit(limitHandshakeTime)
			return cause
		default:
			return err
		}
	}
	if m.consumers[c.ConnectionState().NegotiatedProtocol] == nil {
		return errNoService
	}
	return nil
}

// recordHello records that the whole ClientHello of a connection has arrived.
func recordHello(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	if h, ok := hello.Conn.(*handshake); ok {
		now := time.Now()
		h.greeted.Store(&now)
	}
	return nil, nil // the configuration stays as it is
}

// refusals logs refused connections at a limited rate.
type refusals struct {
	logger  *slog.Logger
	metrics *metrics
	lines   *rate.Limiter
	left    *atomic.Int64 // lines suppressed since the last one
}

func newRefusals(logger *slog.Logger, m *metrics) refusals {
	return refusals{logger: logger, metrics: m, lines: rate.NewLimiter(maxRefusalRate, maxRefusalBurst), left: new(atomic.Int64)}
}

func (r refusals) log(remote net.Addr, err error) {
	if !r.lines.Allow() {
		r.left.Add(1)
		r.metrics.hit(limitLogLines)
		return
	}
	attrs := []any{"remote", remote.String(), "reason", reason(err)}
	if n := r.left.Swap(0); n > 0 {
		attrs = append(attrs, "left_out", n)
	}
	r.logger.Warn("peer connection refused", attrs...)
}
