package apiserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"quorate/apiserver/access/audit"
	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/rbac"
	"quorate/apiserver/access/requestlog"
	"quorate/apiserver/controllers/garbage"
	"quorate/apiserver/controllers/lifecycle"
	"quorate/apiserver/controllers/webhooks"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rates"
	"quorate/apiserver/rest/watch"
)

const (
	headerTimeout  = 10 * time.Second
	idleTimeout    = 120 * time.Second
	maxHeaderBytes = 64 << 10
	// maxHeaderBytes1 bounds what net/http reads of a header of HTTP/1. The handler refuses those
	// beyond maxHeaderBytes, so that they are counted.
	maxHeaderBytes1 = 2 * maxHeaderBytes

	// maxStreams bounds the concurrent requests of one HTTP/2 connection, watches included.
	maxStreams = 1000
	// pingAfter and pingTimeout detect clients that vanished without closing their connection.
	pingAfter   = 30 * time.Second
	pingTimeout = 15 * time.Second
)

// Server is the REST front of one node.
type Server struct {
	cfg       Config
	listener  *connections
	metrics   *metrics
	seats     *seats
	http      *http.Server
	health    *health
	streams   *watch.Streams
	lifecycle *lifecycle.Lifecycle
	dynamic   *dynamic
	catalog   *schema.Catalog
	access    *rbac.Evaluator
	webhooks  *webhooks.Follower
	garbage   *garbage.Collector
	rates     *rates.Recorder

	authenticator *auth.Authenticator
	requests      *requestlog.Log
	audit         *audit.Log // nil without a policy
	log           *slog.Logger
}

func newHTTPServer(cfg Config, handler http.Handler, log *slog.Logger) *http.Server {
	config := cfg.TLS.Clone()
	config.NextProtos = []string{"h2", "http/1.1"}
	return &http.Server{
		Handler: handler,
		// The handler also serves OPTIONS *, which needs credentials like every path.
		DisableGeneralOptionsHandler: true,
		TLSConfig:                    config,
		ReadHeaderTimeout:            headerTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxHeaderBytes,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams,
			SendPingTimeout:      pingAfter,
			PingTimeout:          pingTimeout,
		},
	}
}

// Catalog returns the kinds that have files.
func (s *Server) Catalog() *schema.Catalog { return s.catalog }

// Listen binds the address and returns it. Run calls it if the caller has not. It is not safe for
// concurrent use.
func (s *Server) Listen() (net.Addr, error) {
	if s.listener == nil {
		l, err := net.Listen("tcp", s.cfg.Addr)
		if err != nil {
			return nil, fmt.Errorf("listen on %s: %w", s.cfg.Addr, err)
		}
		s.listener = guard(l, s.cfg.Limits, s.metrics)
		s.http.TLSConfig.GetConfigForClient = s.listener.admitHandshake
		s.metrics.watchConnections(s.cfg.Registerer, s.listener)
	}
	return s.listener.Addr(), nil
}

// Close releases the address of a server that will not run.
func (s *Server) Close() error {
	if s.listener == nil {
		return nil
	}
	return ignoreClosed(s.listener.Close())
}

// Run serves until ctx ends, then shuts down in order and returns. The store must outlive it.
func (s *Server) Run(ctx context.Context) error {
	if _, err := s.Listen(); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.serve() })
	group.Go(func() error { return s.lifecycle.Run(ctx) })
	group.Go(func() error { return s.dynamic.served.Run(ctx, s.dynamic.publish) })
	group.Go(func() error { return s.garbage.Run(ctx) })
	group.Go(func() error { return s.access.Run(ctx) })
	group.Go(func() error { return s.webhooks.Run(ctx) })
	group.Go(func() error { return s.streams.Run(ctx) })
	group.Go(func() error { return s.rates.Run(ctx) })
	group.Go(func() error { return s.authenticator.Run(ctx, s.log, s.metrics.reloaded("tokens")) })
	group.Go(func() error { return s.followPolicy(ctx) })
	group.Go(func() error { return s.followLevels(ctx) })
	group.Go(func() error { return s.requests.Run(ctx) })
	if s.audit != nil {
		group.Go(func() error { return s.audit.Run(ctx) })
	}
	group.Go(func() error { return s.listener.run(ctx) })
	group.Go(func() error {
		<-ctx.Done()
		return s.shutdown()
	})
	return group.Wait()
}

func (s *Server) serve() error {
	err := s.http.ServeTLS(s.listener, "", "")
	if s.health.draining.Load() && (errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed)) {
		return nil
	}
	return fmt.Errorf("serve the API: %w", err)
}

// shutdown makes the node not ready, stops accepting, refuses the requests that wait for seats,
// ends the watches, and waits for the requests in progress, or aborts them after ShutdownGrace.
func (s *Server) shutdown() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Limits.ShutdownGrace)
	defer cancel()
	s.health.draining.Store(true)
	closed := s.listener.Close()
	s.seats.close()
	drained := s.streams.Drain(ctx)
	finished := s.http.Shutdown(ctx)
	if drained == nil && finished == nil || ctx.Err() == nil {
		return ignoreClosed(errors.Join(closed, finished))
	}
	s.log.Warn("requests under way were broken off", "after", s.cfg.Limits.ShutdownGrace)
	return ignoreClosed(s.http.Close())
}

// ignoreClosed drops net.ErrClosed: both shutdown and the HTTP server close the listener.
func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
