package gossip

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"quorate/raftstore/addresskey"
	"quorate/raftstore/logbridge"
)

const (
	levelInfo  = slog.LevelInfo
	levelWarn  = slog.LevelWarn
	levelError = slog.LevelError

	// repeatAfter is how often one finding is logged while it lasts.
	repeatAfter = time.Minute
	// maxFindings bounds the findings remembered for that.
	maxFindings = 1024
	// findingsQueued bounds the findings that wait for the log. Further ones are dropped, since
	// findings recur.
	findingsQueued = 64
	// maxLogBurst lines of memberlist are logged without delay, then maxLogRate a second: packets
	// of strangers cause them.
	maxLogBurst = 20
	maxLogRate  = 0.2
)

// finding is a log line that is repeated at most once a minute.
type finding struct {
	level   slog.Level
	key     string // findings with one key are one finding
	message string
	reason  string
	addr    string
}

// report queues a finding for the log without blocking: callers hold memberlist's lock.
func (g *Gossip) report(f finding) {
	select {
	case g.findings <- f:
	default:
		g.metrics.limits.WithLabelValues(limitFindings).Inc()
	}
}

func (g *Gossip) reportStranger(m Meta, addr string, reason error) {
	g.metrics.refused.Inc()
	g.report(finding{
		level:   levelWarn,
		key:     m.Name + m.NodeID + reason.Error(),
		message: fmt.Sprintf("node %q refused", m.Name),
		reason:  reason.Error(),
		addr:    addr,
	})
}

// writeFindings logs what is reported until the context ends.
func (g *Gossip) writeFindings(ctx context.Context) error {
	recent := repeats{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case f := <-g.findings:
			if recent.seen(f.key, time.Now()) {
				g.metrics.limits.WithLabelValues(limitRepeatedLines).Inc()
				continue
			}
			attrs := make([]slog.Attr, 0, 2)
			if f.addr != "" {
				attrs = append(attrs, slog.String("addr", f.addr))
			}
			if f.reason != "" {
				attrs = append(attrs, slog.String("reason", f.reason))
			}
			g.cfg.Logger.LogAttrs(ctx, f.level, f.message, attrs...)
		}
	}
}

// logWriter passes memberlist's lines to the log, and recognizes none of them. A line above debug
// that is equal to one before is written once a minute.
type logWriter struct {
	g     *Gossip
	next  io.Writer
	lines *rate.Limiter
	left  atomic.Int64 // lines left out since the last one that was written

	mu     sync.Mutex
	recent repeats // guarded by mu
}

func newLogWriter(g *Gossip) io.Writer {
	return &logWriter{
		g: g, next: logbridge.Writer(g.cfg.Logger, true), lines: rate.NewLimiter(maxLogRate, maxLogBurst), recent: repeats{},
	}
}

func (w *logWriter) Write(line []byte) (int, error) {
	if bytes.HasPrefix(line, []byte("[DEBUG]")) {
		return w.next.Write(line)
	}
	if w.repeated(line) {
		w.g.metrics.limits.WithLabelValues(limitRepeatedLines).Inc()
		return len(line), nil
	}
	return len(line), w.limited(line)
}

func (w *logWriter) repeated(line []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.recent.seen(string(line), time.Now())
}

// limited writes a line unless there have been too many, and says how many were left out before it.
func (w *logWriter) limited(line []byte) error {
	if !w.lines.Allow() {
		w.left.Add(1)
		w.g.metrics.limits.WithLabelValues(limitLogLines).Inc()
		return nil
	}
	if n := w.left.Swap(0); n > 0 {
		w.g.cfg.Logger.Warn("lines of memberlist were left out of the log", "lines", n)
	}
	_, err := w.next.Write(line)
	return err
}

// repeats holds when each key was seen last, of up to maxFindings keys.
type repeats map[string]time.Time

// seen reports whether the key was seen less than repeatAfter ago, and notes it otherwise.
func (r repeats) seen(key string, now time.Time) bool {
	if at, ok := r[key]; ok && now.Sub(at) < repeatAfter {
		return true
	}
	if len(r) >= maxFindings {
		clear(r)
	}
	r[key] = now
	return false
}

// reportOtherKey reports a message that is encrypted with another key.
func (g *Gossip) reportOtherKey(from net.Addr) {
	host, _, err := net.SplitHostPort(from.String())
	if err != nil {
		host = from.String()
	}
	g.metrics.refused.Inc()
	g.report(finding{
		level:   levelWarn,
		key:     "other key " + addresskey.Of(host),
		message: "gossip from " + host + " refused: encrypted with another cluster key",
	})
}
