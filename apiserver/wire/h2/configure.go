package h2

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// protocol is HTTP/2's name in ALPN.
const protocol = "h2"

// Options holds the settings that http.Server has no field for.
type Options struct {
	// Registerer registers the metrics; nil registers none.
	Registerer prometheus.Registerer
	// ResponseTimeout bounds how long a response whose handler sets no write deadline may wait for
	// the client, counted from the first time that it waits; 0 means 60 s. If a handler sets the
	// deadline to the zero time, its response may wait without a limit until the handler returns.
	ResponseTimeout time.Duration
}

// Configure makes srv serve HTTP/2 with this package. It must be called once, before srv serves.
// Shutdown and Close of srv include the HTTP/2 connections.
//
// The package respects Handler, ErrorLog, IdleTimeout, ReadHeaderTimeout, ReadTimeout, WriteTimeout
// and MaxHeaderBytes of srv, and MaxConcurrentStreams, MaxReceiveBufferPerConnection,
// MaxReceiveBufferPerStream, SendPingTimeout, PingTimeout and WriteByteTimeout of srv.HTTP2.
// ConnState is called only for the first and the last state of a connection.
func Configure(srv *http.Server, opts Options) error {
	if srv == nil {
		return errors.New("configure HTTP/2: no server")
	}
	if _, taken := srv.TLSNextProto[protocol]; taken {
		return errors.New("configure HTTP/2: the server has it already")
	}
	s := &server{http: srv, bounds: newBounds(srv, opts), metrics: newMetrics(opts.Registerer), conns: make(map[*conn]struct{})}
	if srv.TLSNextProto == nil {
		srv.TLSNextProto = make(map[string]func(*http.Server, *tls.Conn, http.Handler))
	}
	srv.TLSNextProto[protocol] = s.accept
	offerHTTP2(srv)
	srv.RegisterOnShutdown(s.shutdown)
	return nil
}

// offerHTTP2 makes the server negotiate HTTP/2.
func offerHTTP2(srv *http.Server) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if srv.TLSConfig != nil {
		conf = srv.TLSConfig.Clone()
	}
	if !slices.Contains(conf.NextProtos, protocol) {
		conf.NextProtos = append([]string{protocol}, conf.NextProtos...)
	}
	// Use full records from the start. Small first records let browsers render early but cost the
	// clients of an API more records.
	conf.DynamicRecordSizingDisabled = true
	srv.TLSConfig = conf
}

// Account is charged for the memory of a response that waits for its client. Its methods are called
// by the goroutine of the handler, and must not block.
type Account interface {
	// BeginWaiting is called when the response waits for the first time. If it returns false, the
	// stream is reset.
	BeginWaiting() bool
	// EndWaiting is called at the end of a response for which BeginWaiting was called.
	EndWaiting()
}

// server is the state that the HTTP/2 connections of one http.Server share.
type server struct {
	http    *http.Server
	bounds  bounds
	metrics *metrics
	dates   dates
	buffers buffers
	scratch scratchPool

	mu       sync.Mutex
	conns    map[*conn]struct{} // guarded by mu
	draining bool               // guarded by mu
}

// accept serves a connection that has negotiated HTTP/2, and returns after it has ended. net/http
// then closes it.
func (s *server) accept(_ *http.Server, tc *tls.Conn, h http.Handler) {
	ctx := context.Background()
	if based, ok := h.(interface{ BaseContext() context.Context }); ok {
		ctx = based.BaseContext()
	}
	state := tc.ConnectionState()
	s.serve(newConn(s, ctx, tc, &state, h))
}

// serve registers and serves a connection, which it drains at once if the server is shutting down.
func (s *server) serve(c *conn) {
	s.metrics.connections.Inc()
	defer s.metrics.connections.Dec()
	if s.add(c) {
		c.drain()
	}
	defer s.remove(c)
	c.serve()
}

// add registers a connection and reports whether the server is shutting down.
func (s *server) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = struct{}{}
	return s.draining
}

// remove unregisters a connection.
func (s *server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// shutdown drains all connections. http.Server.Shutdown waits until they have ended.
func (s *server) shutdown() {
	s.mu.Lock()
	s.draining = true
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	for _, c := range conns {
		c.drain()
	}
}

// logf logs to the ErrorLog of the http.Server, or to the standard logger.
func (s *server) logf(format string, args ...any) {
	if s.http.ErrorLog != nil {
		s.http.ErrorLog.Printf(format, args...)
		return
	}
	log.Printf(format, args...) // as net/http does
}

// adequate reports whether a TLS connection may carry HTTP/2 (RFC 9113 §9.2): it needs TLS 1.2 with
// an ephemeral AEAD cipher suite, or a later version.
func adequate(state *tls.ConnectionState) bool {
	if state.Version >= tls.VersionTLS13 {
		return true
	}
	switch state.CipherSuite {
	case tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256:
		return state.Version == tls.VersionTLS12
	}
	return false
}

// halfCloser is a connection whose writing side can be closed alone, such as *tls.Conn.
type halfCloser interface {
	net.Conn
	CloseWrite() error
}
