package audit

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/requestlog"
)

const (
	// strangerBurst requests without a known user are recorded at once, then strangerRate a second.
	strangerBurst = 200
	strangerRate  = 100
	// reportInterval is how often the number of those left out is logged.
	reportInterval = 10 * time.Second
	// usualEventBytes is the size of most events without bodies.
	usualEventBytes = 1024
)

// Config holds what a Log needs; all fields are required.
type Config struct {
	Policy *Policy
	// Sinks take the events, one in each call, with a newline. They must not block, nor retain the
	// bytes.
	Sinks      []io.Writer
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Log records requests. Its methods are safe for concurrent use.
type Log struct {
	cfg       Config
	policy    atomic.Pointer[Policy]
	metrics   *metrics
	strangers *rate.Limiter
}

// New returns a log.
func New(cfg Config) *Log {
	l := &Log{cfg: cfg, metrics: newMetrics(cfg.Registerer), strangers: rate.NewLimiter(strangerRate, strangerBurst)}
	l.policy.Store(cfg.Policy)
	return l
}

// SetPolicy replaces the policy for the requests that begin from now on.
func (l *Log) SetPolicy(p *Policy) { l.policy.Store(p) }

// Run logs how many requests of strangers were not recorded, until ctx ends.
func (l *Log) Run(ctx context.Context) error {
	ticker := time.NewTicker(reportInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if n := l.metrics.takeUnreported(); n > 0 {
				l.cfg.Logger.Warn("requests without a user were not audited, because there were too many", "requests", n)
			}
		}
	}
}

// Received is a request when it comes in.
type Received struct {
	ID   string // the value of Audit-Id
	HTTP *http.Request
	// User is who sent the request, nil if nobody knows.
	User *auth.User
	// Attributes has the path alone if the request is not about a resource.
	Attributes auth.Attributes
	At         time.Time
}

// Trail records one request. It is for one goroutine.
type Trail struct {
	log      *Log
	received Received
	level    Level
	decision Decision
	// uri, address and agent are from the request, which forgets them while it is a watch.
	uri, address, agent string
	sensitive           bool
	recording           *Recording // nil below the level Request
}

// Begin returns the trail of a request; nil if nothing is recorded of it.
func (l *Log) Begin(r Received) *Trail {
	decision := l.policy.Load().Decide(r.User, &r.Attributes)
	if decision.Level == None {
		return nil
	}
	if r.User == nil && !l.strangers.Allow() {
		l.metrics.leaveOut()
		return nil
	}
	t := &Trail{log: l, received: r, level: decision.Level, decision: decision, sensitive: sensitive(&r.Attributes)}
	t.uri, t.address = requestlog.CutAt(r.HTTP.RequestURI, maxURIBytes), host(r.HTTP.RemoteAddr)
	if len(r.HTTP.RequestURI) > maxURIBytes { // of which they may be parts
		t.received.Attributes.Namespace, t.received.Attributes.Name = "", strings.Clone(r.Attributes.Name)
	}
	if agent := r.HTTP.Header["User-Agent"]; len(agent) > 0 {
		t.agent = requestlog.Cut(agent[0])
	}
	if t.sensitive {
		t.level = Metadata
	}
	if t.level >= Request {
		t.recording = &Recording{
			responses: t.level >= RequestResponse && r.Attributes.Path == "", omitManaged: decision.omitManaged,
		}
	}
	return t
}

// Recording returns where the bodies of the request are recorded; nil if they are not.
func (t *Trail) Recording() *Recording { return t.recording }

// Emit emits the event of a stage, unless the policy omits it.
func (t *Trail) Emit(s Stage, o Outcome) {
	if !t.decision.Emits(s) {
		return
	}
	if o.Name == "" {
		o.Name = t.received.Attributes.Name // that of a field selector, which a watch forgets
	}
	event := append(t.append(make([]byte, 0, usualEventBytes), s, &o, time.Now()), '\n')
	for _, sink := range t.log.cfg.Sinks {
		_, _ = sink.Write(event) // sinks count what they drop
	}
	t.log.metrics.events[t.level].Inc()
}

// host returns an address without its port.
func host(address string) string {
	if h, _, err := net.SplitHostPort(address); err == nil {
		return h
	}
	return address
}
