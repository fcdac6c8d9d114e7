package apiserver

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/admin"
)

// Config is what a server is made of. Store, TLS, SigningKey and the two loggers are required.
type Config struct {
	// Addr is the address to listen on, HOST:PORT; port 0 picks a free one (see Server.Listen).
	Addr string
	// AdvertiseAddr is the HOST:PORT that discovery shows to clients; Addr when empty.
	AdvertiseAddr string
	// TLS holds the server's certificates.
	TLS *tls.Config

	Store   Store
	Cluster admin.Cluster

	// SigningKey is the HMAC key of this cluster's tokens, derived from the cluster key.
	SigningKey []byte
	// TokenFile holds static tokens, one `token,user,uid,"group,group"` a line; none when empty.
	TokenFile string

	// QuorumRead makes reads without a resourceVersion linearizable; without it they read this node's state.
	QuorumRead bool

	Logger *slog.Logger
	// AuditLogger gets one line a request, as AuditPolicy chooses.
	AuditLogger *slog.Logger
	AuditPolicy AuditPolicy

	Registerer prometheus.Registerer
	// Gatherer is what /metrics shows.
	Gatherer prometheus.Gatherer

	Limits Limits
	// EventTTL is how long events are kept after their last write; 0 means one hour (semantics M17).
	EventTTL time.Duration
	Build    Build
}

// AuditPolicy chooses the requests that are logged.
type AuditPolicy string

// The audit policies.
const (
	AuditNone   AuditPolicy = "none"
	AuditErrors AuditPolicy = "errors" // answered with 4xx or 5xx
	AuditWrites AuditPolicy = "writes" // creates, replaces, deletes, and all errors
	AuditAll    AuditPolicy = "all"
)

// Build says what runs.
type Build struct {
	Version string // semantic version, "v0.1.0"
	Commit  string
	Date    string // RFC 3339
	// TreeState is "clean" when what was built was the commit, "dirty" when it was not; empty when nobody knows.
	TreeState string
}

// Limits bound what clients may cost. A zero field takes its default.
type Limits struct {
	// Reads and Writes are the requests under way at one time; more are answered with 429.
	Reads, Writes int
	// Watches is the number of open watch streams.
	Watches int
	// Connections is the number of open connections; more are closed at once.
	Connections int
	// BodyBytes is the memory that request bodies under way may take together.
	BodyBytes int64
	// ShutdownGrace is how long requests under way may finish after the context of Run ended.
	ShutdownGrace time.Duration
}

func (l Limits) withDefaults() Limits {
	if l.Reads == 0 {
		l.Reads = 2000
	}
	if l.Writes == 0 {
		l.Writes = 1500
	}
	if l.Watches == 0 {
		l.Watches = 20000
	}
	if l.Connections == 0 {
		l.Connections = 20000
	}
	if l.BodyBytes == 0 {
		l.BodyBytes = 256 << 20
	}
	if l.ShutdownGrace == 0 {
		l.ShutdownGrace = 10 * time.Second
	}
	return l
}

func (c *Config) validate() error {
	switch {
	case c.Store == nil:
		return errors.New("apiserver: Store is required")
	case c.TLS == nil:
		return errors.New("apiserver: TLS is required")
	case len(c.SigningKey) == 0:
		return errors.New("apiserver: SigningKey is required")
	case c.Logger == nil || c.AuditLogger == nil:
		return errors.New("apiserver: Logger and AuditLogger are required")
	case c.Registerer == nil || c.Gatherer == nil:
		return errors.New("apiserver: Registerer and Gatherer are required")
	}
	switch c.AuditPolicy {
	case "":
		c.AuditPolicy = AuditWrites
	case AuditNone, AuditErrors, AuditWrites, AuditAll:
	default:
		return fmt.Errorf("apiserver: unknown audit policy %q: want none, errors, writes or all", c.AuditPolicy)
	}
	c.Limits = c.Limits.withDefaults()
	return nil
}
