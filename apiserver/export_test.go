package apiserver

import (
	"net/http"

	"quorate/apiserver/access/budget"
)

// Handler is what the server serves with, for benchmarks without a network.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// Handshakes is the queue of TLS handshakes.
func (s *Server) Handshakes() *budget.Queue { return s.listener.handshakes }
