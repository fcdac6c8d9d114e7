package apiserver

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/access/audit"
	"quorate/apiserver/access/fairness"
	"quorate/apiserver/access/reload"
	"quorate/apiserver/access/requestlog"
	"quorate/apiserver/admin"
)

// Config holds the settings and parts of a server. Store, TLS, SigningKey, the two loggers,
// Registerer and Gatherer are required.
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

	// QuorumRead makes reads without a resourceVersion linearizable; without it they read this
	// node's state.
	QuorumRead bool

	// ReportedVersion is the version of the API at /version, MAJOR.MINOR.PATCH; 1.36.0 if it is
	// empty. Clients decide by it what they ask for.
	ReportedVersion string

	Logger *slog.Logger
	// RequestLogger receives one line for each request that RequestPolicy selects (writes if it is
	// empty). Neither logger may block.
	RequestLogger *slog.Logger
	RequestPolicy requestlog.Policy
	// AuditPolicy selects the requests of which AuditSinks take events (see audit.Config); nil for
	// none.
	AuditPolicy *audit.Policy
	// AuditPolicyFile is where AuditPolicy was read from; a change takes effect at once. nil for
	// none.
	AuditPolicyFile *reload.File
	AuditSinks      []io.Writer

	Registerer prometheus.Registerer
	// Gatherer supplies the metrics that /metrics serves.
	Gatherer prometheus.Gatherer

	Limits Limits
	// Levels are the priority levels of requests; nil means fairness.DefaultLevels.
	Levels []fairness.Level
	// LevelsFile is where Levels were read from; a change takes effect at once. nil for none.
	LevelsFile *reload.File
	// EventTTL is how long events are kept after their last write; 0 means one hour (semantics
	// M17).
	EventTTL time.Duration
	Build    Build
}

// Build identifies the running binary.
type Build struct {
	Version string // semantic version, "v0.1.0"
	Commit  string
	Date    string // RFC 3339
	// TreeState is "clean" when what was built was the commit, "dirty" when it was not; empty when
	// nobody knows.
	TreeState string
}

// Limits bound the resources that clients may use. A zero field takes its default.
type Limits struct {
	// Reads and Writes are the seats of the requests served at the same time, which Levels divide;
	// more requests wait, or are answered with 429.
	Reads, Writes int
	// Watches bounds the open watch streams.
	Watches int
	// Connections bounds the open connections; more are closed at once.
	Connections int
	// BodyBytes bounds the memory of all request bodies together.
	BodyBytes int64
	// Shares are what one user and one address may have of these.
	Shares Shares
	// AnswerBytes bounds the memory of all answers that may wait for their clients.
	AnswerBytes int64
	// AnswerTimeout bounds how long an answer over HTTP/2 may wait for its client, watches apart.
	AnswerTimeout time.Duration
	// ShutdownGrace is how long requests may take to finish after the context of Run has ended.
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
		l.Watches = 40000
	}
	if l.Connections == 0 {
		l.Connections = 20000
	}
	if l.BodyBytes == 0 {
		l.BodyBytes = 256 << 20
	}
	if l.AnswerBytes == 0 {
		l.AnswerBytes = 256 << 20
	}
	if l.AnswerTimeout == 0 {
		l.AnswerTimeout = time.Minute
	}
	if l.ShutdownGrace == 0 {
		l.ShutdownGrace = 10 * time.Second
	}
	l.shareDefaults()
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
	case c.Logger == nil || c.RequestLogger == nil:
		return errors.New("apiserver: Logger and RequestLogger are required")
	case c.Registerer == nil || c.Gatherer == nil:
		return errors.New("apiserver: Registerer and Gatherer are required")
	}
	c.RequestPolicy = cmp.Or(c.RequestPolicy, requestlog.Writes)
	if err := c.RequestPolicy.Check(); err != nil {
		return fmt.Errorf("apiserver: %w", err)
	}
	c.ReportedVersion = cmp.Or(c.ReportedVersion, defaultReportedVersion)
	if err := CheckReportedVersion(c.ReportedVersion); err != nil {
		return fmt.Errorf("apiserver: ReportedVersion: %w", err)
	}
	c.Limits = c.Limits.withDefaults()
	return nil
}
