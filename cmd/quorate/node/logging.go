package node

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"quorate/apiserver/access/audit"
	"quorate/apiserver/access/audit/webhook"
	"quorate/apiserver/access/reload"
	"quorate/cmd/quorate/logsink"
	"quorate/cmd/quorate/settings"
)

const (
	// maxQueuedBytes and maxQueuedLines bound the lines of one log that wait for its destination.
	maxQueuedBytes = 4 << 20
	maxQueuedLines = 16384
	// maxQueuedEventBytes is the same for audit events, which may have bodies.
	maxQueuedEventBytes = 16 << 20
	// webhookBatchBytes and webhookBatchEvents bound one request to the webhook; the first event
	// waits webhookLinger for others.
	webhookBatchBytes  = 1 << 20
	webhookBatchEvents = 400
	webhookLinger      = time.Second
)

// The names of the logs in metrics.
const (
	processLog = "process"
	requestLog = "requests"
	auditLog   = "audit"
	webhookLog = "audit-webhook"
)

// logs holds the logs of a node. Writing to any of them never blocks.
type logs struct {
	metrics *logsink.Metrics
	process *logsink.Queue
	logger  *slog.Logger // writes to process
	// file is the destination of the audit log, nil if that is no file.
	file *logsink.File
	// requests takes the lines of the request log, sinks the events of policy; nil without one.
	requests *slog.Logger
	policy   *audit.Policy
	// policyFile is where policy was read from; nil without one.
	policyFile *reload.File
	sinks      []io.Writer
	webhook    *webhook.Webhook // nil without one
	queues     []*logsink.Queue // of the other logs
}

// newLogs returns logs of which only that of the process is open.
func newLogs(stderr io.Writer, s settings.Log, metrics *logsink.Metrics) *logs {
	l := &logs{metrics: metrics}
	direct := newLogger(stderr, s)
	l.process = logsink.Open(logsink.Config{
		Name: processLog, MaxBytes: maxQueuedBytes, MaxLines: maxQueuedLines, Deliver: logsink.Writer(stderr),
		// Not through the queue, which may be full again.
		Report: func(d logsink.Dropped) {
			direct.Warn("lines of this log were dropped", "lines", d.Lines, "reason", d.Reason())
		},
		Metrics: metrics,
	})
	l.logger = newLogger(l.process, s)
	return l
}

// newLogger returns a logger of the process.
func newLogger(w io.Writer, s settings.Log) *slog.Logger {
	levels := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}
	options := &slog.HandlerOptions{Level: levels[s.Level]}
	if s.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// openRequests opens what records requests: the request log in --audit-log or else in the log of
// the process, or, with a policy, events in --audit-log and the request log in that of the process.
func (l *logs) openRequests(stdout io.Writer, s settings.Audit) error {
	l.requests = l.logger.With("component", "audit")
	if s.Policy != "" {
		return l.openEvents(stdout, s)
	}
	if s.Log == "" {
		return nil
	}
	deliver, err := l.destination(stdout, s)
	if err != nil {
		return err
	}
	q := l.open(logsink.Config{Name: requestLog, MaxBytes: maxQueuedBytes, MaxLines: maxQueuedLines, Deliver: deliver})
	l.requests = slog.New(slog.NewJSONHandler(q, nil))
	return nil
}

// openEvents reads the audit policy and opens the destinations of events.
func (l *logs) openEvents(stdout io.Writer, s settings.Audit) error {
	var err error
	l.policyFile = reload.Open(s.Policy)
	if l.policy, err = audit.ReadPolicy(s.Policy); err != nil {
		return fmt.Errorf("--audit-policy-file: %w", err)
	}
	if s.Log != "" {
		deliver, err := l.destination(stdout, s)
		if err != nil {
			return err
		}
		l.sinks = append(l.sinks, l.open(logsink.Config{
			Name: auditLog, MaxBytes: maxQueuedEventBytes, MaxLines: maxQueuedLines, Deliver: deliver,
		}))
	}
	if s.Webhook == "" {
		return nil
	}
	if l.webhook, err = webhook.Open(s.Webhook); err != nil {
		return fmt.Errorf("--audit-webhook-config-file: %w", err)
	}
	l.sinks = append(l.sinks, l.open(logsink.Config{
		Name: webhookLog, MaxBytes: maxQueuedEventBytes, MaxLines: maxQueuedLines, Deliver: l.webhook.Deliver,
		BatchBytes: webhookBatchBytes, BatchLines: webhookBatchEvents, Linger: webhookLinger,
	}))
	return nil
}

// destination opens the destination of the audit log.
func (l *logs) destination(stdout io.Writer, s settings.Audit) (logsink.Deliver, error) {
	if s.Log == "-" {
		return logsink.Writer(stdout), nil
	}
	file, err := logsink.OpenFile(logsink.FileConfig{
		Path: s.Log, MaxBytes: s.MaxBytes, MaxAge: s.MaxAge, MaxFiles: s.MaxFiles, Removed: l.metrics.RemovedFiles,
	})
	if err != nil {
		return nil, fmt.Errorf("--audit-log: %w", err)
	}
	l.file = file
	return file.Deliver, nil
}

// open opens the queue of a log whose dropped lines are reported in the log of the process.
func (l *logs) open(cfg logsink.Config) *logsink.Queue {
	cfg.Metrics = l.metrics
	cfg.Report = func(d logsink.Dropped) {
		l.logger.Warn("lines of a log were dropped", "log", cfg.Name, "lines", d.Lines, "reason", d.Reason())
	}
	q := logsink.Open(cfg)
	l.queues = append(l.queues, q)
	return q
}

// claim returns how many bytes of the disk of dir the audit log may still take: none if it is on
// another one.
func (l *logs) claim(dir string) (func() int64, error) {
	none := func() int64 { return 0 }
	if l.file == nil {
		return none, nil
	}
	data, err := device(dir)
	if err != nil {
		return nil, err
	}
	log, err := device(filepath.Dir(l.file.Path()))
	if err != nil || log != data {
		return none, err
	}
	return l.file.Remaining, nil
}

// device returns the file system that a directory is on.
func device(dir string) (uint64, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return 0, fmt.Errorf("find the file system of a directory: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("find the file system of %s: unknown to this system", dir)
	}
	return uint64(stat.Dev), nil //nolint:unconvert // the type differs between systems
}

// close delivers what is queued and closes the logs, that of the process last.
func (l *logs) close() error {
	var errs []error
	for _, q := range l.queues {
		errs = append(errs, q.Close())
	}
	if l.webhook != nil {
		l.webhook.Close()
	}
	if l.file != nil {
		errs = append(errs, l.file.Close())
	}
	return errors.Join(append(errs, l.process.Close())...)
}
