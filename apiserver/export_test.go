package apiserver

import "net/http"

// Handler is what the server serves with, for benchmarks without a network.
func (s *Server) Handler() http.Handler { return s.http.Handler }
