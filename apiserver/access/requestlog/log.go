package requestlog

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/access/auth"
)

// sweepInterval is how often the number of lines left out is logged.
const sweepInterval = 10 * time.Second

// Policy selects the requests that are logged.
type Policy string

// The policies.
const (
	None   Policy = "none"
	Errors Policy = "errors" // answered with 4xx or 5xx
	Writes Policy = "writes" // creates, replaces, deletes, and all errors
	All    Policy = "all"
)

// Check returns an error if p is not one of the policies.
func (p Policy) Check() error {
	switch p {
	case None, Errors, Writes, All:
		return nil
	}
	return fmt.Errorf("unknown policy %q of the request log: want none, errors, writes or all", p)
}

// Entry describes a request that has been answered.
type Entry struct {
	ID       string // Audit-Id
	Request  *http.Request
	Code     int // 0 if nothing was sent
	Bytes    int64
	Duration time.Duration
	// User is whose permissions counted, Sender who impersonated that user; nil for none.
	User, Sender *auth.User
	Verb         string // empty if the request has no route
	Write        bool
}

// Log logs requests. Its methods are safe for concurrent use.
type Log struct {
	policy   Policy
	out      *slog.Logger
	refusals *refusals
	metrics  *metrics
}

// New returns a log that writes to out, which must not block.
func New(policy Policy, out *slog.Logger, registerer prometheus.Registerer) *Log {
	return &Log{policy: policy, out: out, refusals: newRefusals(), metrics: newMetrics(registerer)}
}

// Run logs how many lines were left out, until ctx ends.
func (l *Log) Run(ctx context.Context) error {
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			l.sweep()
			return nil
		case <-ticker.C:
			l.sweep()
		}
	}
}

func (l *Log) sweep() {
	for what, lines := range l.refusals.sweep() {
		l.out.LogAttrs(context.Background(), slog.LevelWarn, "refused requests were not logged, because there were too many",
			slog.Int("code", what.code), slog.String("user", what.user), slog.Int("lines", lines))
	}
}

// Log logs a request if the policy selects it.
func (l *Log) Log(e *Entry) {
	if !l.wants(e) {
		return
	}
	if e.Code >= http.StatusBadRequest && e.Code < http.StatusInternalServerError && !l.refusals.allows(refused{e.Code, e.by()}, time.Now()) {
		l.metrics.leftOut.Inc()
		return
	}
	var attrs [12]slog.Attr
	r := e.Request
	line := append(attrs[:0],
		slog.String("request", e.ID),
		slog.String("method", Cut(r.Method)),
		slog.String("path", Cut(r.URL.Path)),
		slog.Int("code", e.Code),
		slog.Duration("took", e.Duration),
		slog.Int64("bytes", e.Bytes),
		slog.String("from", r.RemoteAddr),
	)
	switch {
	case e.Sender != nil:
		line = append(line, slog.String("user", Cut(e.Sender.Name)), slog.String("as", Cut(e.User.Name)), slog.Any("groups", CutAll(e.User.Groups)))
	case e.User != nil:
		line = append(line, slog.String("user", Cut(e.User.Name)))
	}
	if e.Verb != "" {
		line = append(line, slog.String("verb", e.Verb))
	}
	if agent := r.Header["User-Agent"]; len(agent) > 0 {
		line = append(line, slog.String("agent", Cut(agent[0])))
	}
	l.out.LogAttrs(context.Background(), slog.LevelInfo, "request", line...)
}

func (l *Log) wants(e *Entry) bool {
	switch l.policy {
	case All:
		return true
	case Writes:
		return e.Code >= http.StatusBadRequest || e.Write
	case Errors:
		return e.Code >= http.StatusBadRequest
	}
	return false
}

// by returns the name of the user who sent the request.
func (e *Entry) by() string {
	switch {
	case e.Sender != nil:
		return Cut(e.Sender.Name)
	case e.User != nil:
		return Cut(e.User.Name)
	}
	return ""
}
