package apiserver

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"quorate/apiserver/rest/route"
)

// audit logs one line for each request that its policy selects. It never logs bodies, tokens or
// queries.
type audit struct {
	policy AuditPolicy
	out    *slog.Logger
}

func (a *audit) wants(x *exchange) bool {
	switch a.policy {
	case AuditAll:
		return true
	case AuditWrites:
		return x.code >= http.StatusBadRequest || x.call.Endpoint != nil && x.call.Endpoint.Class == route.ClassWrite
	case AuditErrors:
		return x.code >= http.StatusBadRequest
	}
	return false
}

func (a *audit) log(x *exchange, took time.Duration) {
	if !a.wants(x) {
		return
	}
	c := &x.call
	var attrs [12]slog.Attr
	line := append(attrs[:0],
		slog.String("request", x.id[0]),
		slog.String("method", c.R.Method),
		slog.String("path", c.R.URL.Path),
		slog.Int("code", x.code),
		slog.Duration("took", took),
		slog.Int64("bytes", x.bytes),
		slog.String("from", c.R.RemoteAddr),
	)
	switch {
	case x.sender != nil:
		line = append(line, slog.String("user", x.sender.Name), slog.String("as", c.User.Name), slog.Any("groups", c.User.Groups))
	case c.User != nil:
		line = append(line, slog.String("user", c.User.Name))
	}
	if c.Endpoint != nil {
		line = append(line, slog.String("verb", c.Endpoint.Verb))
	}
	if agent := c.R.Header["User-Agent"]; len(agent) > 0 {
		line = append(line, slog.String("agent", agent[0]))
	}
	a.out.LogAttrs(context.Background(), slog.LevelInfo, "request", line...)
}
