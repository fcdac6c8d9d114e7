package gossip

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

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
	// findingsQueued bounds those waiting for the log; the next ones are dropped, for they come
	// again.
	findingsQueued = 64
	// maxLogBurst lines of memberlist are logged at once, then maxLogRate a second: packets of
	// strangers cause them.
	maxLogBurst = 20
	maxLogRate  = 0.2
)

// finding is something an operator should read, once in a while.
type finding struct {
	level   slog.Level
	key     string // findings with one key are one finding
	message string
	reason  string
	addr    string
}

// report hands a finding to the log without blocking: callers hold memberlist's lock.
func (g *Gossip) report(f finding) {
	select {
	case g.findings <- f:
	default:
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
	last := map[string]time.Time{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case f := <-g.findings:
			now := time.Now()
			if at, ok := last[f.key]; ok && now.Sub(at) < repeatAfter {
				continue
			}
			if len(last) >= maxFindings {
				clear(last)
			}
			last[f.key] = now
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

// What memberlist v0.6.0 says when a message cannot be decrypted, and where it came from. It offers
// no other way to know; a test fails when the words change.
const undecipherable = "no installed keys could decrypt the message"

var sender = regexp.MustCompile(`from=(\S+)`)

// logWriter passes memberlist's log on, except for the lines that this package words better.
type logWriter struct {
	g     *Gossip
	next  io.Writer
	lines *rate.Limiter
	left  atomic.Int64 // lines left out since the last one that was written
}

func newLogWriter(g *Gossip) io.Writer {
	return &logWriter{g: g, next: logbridge.Writer(g.cfg.Logger, true), lines: rate.NewLimiter(maxLogRate, maxLogBurst)}
}

func (w *logWriter) Write(line []byte) (int, error) {
	text := string(line)
	switch {
	case strings.Contains(text, "failed to join"): // the join loop says so
	case strings.Contains(text, undecipherable):
		w.g.reportOtherKey(text)
	case strings.Contains(text, "ignoring alive message"), strings.Contains(text, "Failed push/pull merge"):
		// NotifyAlive and NotifyMerge have reported why.
	case strings.HasPrefix(text, "[DEBUG]"):
		return w.next.Write(line)
	default:
		return len(line), w.limited(line)
	}
	return len(line), nil
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

func (g *Gossip) reportOtherKey(line string) {
	host := "an unknown address"
	if match := sender.FindStringSubmatch(line); match != nil {
		host = match[1]
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h // the port is another one each time
		}
	}
	g.metrics.refused.Inc()
	g.report(finding{
		level:   levelWarn,
		key:     "other key " + host,
		message: "gossip from " + host + " refused: encrypted with another cluster key",
	})
}
