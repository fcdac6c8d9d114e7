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

	"github.com/prometheus/client_golang/prometheus"
)

// protocol is HTTP/2's name in ALPN.
const protocol = "h2"

// Options are what an http.Server has no field for.
type Options struct {
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer
}

// Configure makes srv serve HTTP/2 by this package. Call it once, before srv serves; Shutdown and Close of srv reach the
// connections.
//
// It honours Handler, ErrorLog, IdleTimeout, ReadHeaderTimeout, ReadTimeout, WriteTimeout, MaxHeaderBytes and, of HTTP2,
// MaxConcurrentStreams, MaxReceiveBufferPerConnection, MaxReceiveBufferPerStream, SendPingTimeout, PingTimeout and
// WriteByteTimeout. ConnState hears of a connection's first and last state only.
func Configure(srv *http.Server, opts Options) error {
	if srv == nil {
		return errors.New("configure HTTP/2: no server")
	}
	if _, taken := srv.TLSNextProto[protocol]; taken {
		return errors.New("configure HTTP/2: the server has it already")
	}
	m, err := newMetrics(opts.Registerer)
	if err != nil {
		return err
	}
	s := &server{http: srv, bounds: newBounds(srv), metrics: m, conns: make(map[*conn]struct{})}
	if srv.TLSNextProto == nil {
		srv.TLSNextProto = make(map[string]func(*http.Server, *tls.Conn, http.Handler))
	}
	srv.TLSNextProto[protocol] = s.accept
	offerHTTP2(srv)
	srv.RegisterOnShutdown(s.shutdown)
	return nil
}

func offerHTTP2(srv *http.Server) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if srv.TLSConfig != nil {
		conf = srv.TLSConfig.Clone()
	}
	if !slices.Contains(conf.NextProtos, protocol) {
		conf.NextProtos = append([]string{protocol}, conf.NextProtos...)
	}
	// Records are as large as there is to write: small ones at a connection's beginning would help browsers, not our clients.
	conf.DynamicRecordSizingDisabled = true
	srv.TLSConfig = conf
}

// server is what the connections of one http.Server share.
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

// accept serves one connection that has agreed to speak HTTP/2; net/http closes it afterwards.
func (s *server) accept(_ *http.Server, tc *tls.Conn, h http.Handler) {
	ctx := context.Background()
	if based, ok := h.(interface{ BaseContext() context.Context }); ok {
		ctx = based.BaseContext()
	}
	state := tc.ConnectionState()
	s.serve(newConn(s, ctx, tc, &state, h))
}

func (s *server) serve(c *conn) {
	s.metrics.connections.Inc()
	defer s.metrics.connections.Dec()
	if s.add(c) {
		c.drain()
	}
	defer s.remove(c)
	c.serve()
}

// add reports whether the server is shutting down already.
func (s *server) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = struct{}{}
	return s.draining
}

func (s *server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// shutdown asks all connections to finish what is under way; http.Server.Shutdown waits for them to be gone.
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

func (s *server) logf(format string, args ...any) {
	if s.http.ErrorLog != nil {
		s.http.ErrorLog.Printf(format, args...)
		return
	}
	log.Printf(format, args...) // as net/http does
}

// adequate reports whether a TLS connection may carry HTTP/2 (RFC 9113 §9.2): version 1.2 with an ephemeral AEAD suite, or later.
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

// halfCloser is what a *tls.Conn is besides a net.Conn.
type halfCloser interface {
	net.Conn
	CloseWrite() error
}
