package schedule

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/robfig/cron/v3"

	"quorate/apiserver/admin"
	"quorate/apiserver/controllers/background"
	"quorate/apiserver/objects/schema"
	"quorate/raftstore"
	"quorate/raftstore/backup"
	"quorate/raftstore/state"
)

const (
	// recordTimeout bounds a read or write of the record.
	recordTimeout = 30 * time.Second
	// retryPause is the pause after a failed backup. It doubles with each further failure, up to
	// maxRetryPause.
	retryPause    = 5 * time.Second
	maxRetryPause = 10 * time.Minute
	// clockCheck bounds the wait for a scheduled time, because the machine's clock may be set.
	clockCheck = time.Minute
)

// errSuperseded ends a backup that another node has written in the meantime.
var errSuperseded = errors.New("another node has written a scheduled backup in the meantime")

// Config configures a Scheduler. All fields but KeepAge and Rate are required.
type Config struct {
	Node        string
	Schedule    cron.Schedule
	Destination Destination
	Keep        int           // backups that are kept
	KeepAge     time.Duration // age at which backups are removed; 0 for none
	Rate        int64         // bytes written or read back in a second; 0 for no bound
	// Needed returns how many bytes of the disk of a directory must stay free.
	Needed func() (int64, error)
	// Leases is the kind of the record.
	Leases *schema.Kind
	Store  *raftstore.Store
	// Begin captures the state, and returns a function that writes a backup of it.
	Begin      func(ctx context.Context) (func(io.Writer) error, error)
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Scheduler writes the scheduled backups while its node leads.
type Scheduler struct {
	cfg     Config
	metrics *metrics
	bucket  *bucket // nil if the destination is a directory
}

// New returns a Scheduler. Run starts it. An error means that the destination is not valid.
func New(cfg Config) (*Scheduler, error) {
	cfg.Logger = cfg.Logger.With("component", "schedule")
	s := &Scheduler{cfg: cfg}
	if cfg.Destination.Directory == "" {
		var err error
		if s.bucket, err = newBucket(cfg.Destination); err != nil {
			return nil, err
		}
	}
	s.metrics = newMetrics(cfg.Registerer, s)
	return s, nil
}

// Run writes the backups that are due whenever this node leads, until ctx ends. It returns no error
// of a backup: it logs and counts them.
func (s *Scheduler) Run(ctx context.Context) error {
	if s.bucket != nil {
		defer s.bucket.transport.CloseIdleConnections()
	} else if err := (directory{path: s.cfg.Destination.Directory}).check(ctx); err != nil {
		s.cfg.Logger.Warn("scheduled backups will fail", "error", err)
	}
	return s.cfg.Store.WhileLeader(ctx, s.lead)
}

// failures remembers what has failed, so that repeated failures are logged once.
type failures struct {
	scheduled time.Time
	text      string
	pause     time.Duration
}

// lead writes each backup that becomes due, until ctx ends.
func (s *Scheduler) lead(ctx context.Context) error {
	var failed failures
	for ctx.Err() == nil {
		scheduled, wait, err := s.next(ctx)
		if err == nil && !scheduled.IsZero() {
			err = s.backUp(ctx, scheduled)
		}
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, raftstore.ErrClosed): // ctx ends, too
			wait = background.RetryPause
		case err != nil:
			wait = s.report(&failed, scheduled, err)
		case !scheduled.IsZero():
			failed = failures{}
		}
		background.Pause(ctx, wait)
	}
	return nil
}

// next returns the scheduled time of the backup that is due, or otherwise how long to wait before
// the next call. The first call of a cluster records that backups are scheduled from now on.
func (s *Scheduler) next(ctx context.Context) (scheduled time.Time, wait time.Duration, err error) {
	last, err := s.readRecord(ctx, raftstore.Cached()) // has all writes of former leaders, because this node leads
	now := time.Now()
	if err == nil && last.object == nil {
		err = s.write(ctx, last, now, now)
		if _, early := errors.AsType[*state.GuardFailed](err); early { // the namespace follows
			return time.Time{}, background.RetryPause, nil
		}
		return time.Time{}, 0, err
	}
	if err != nil {
		return time.Time{}, 0, err
	}
	passed, upcoming := due(s.cfg.Schedule, last.scheduled, now)
	if !passed.IsZero() {
		return passed, 0, nil
	}
	if upcoming.IsZero() {
		return time.Time{}, clockCheck, nil
	}
	return time.Time{}, min(time.Until(upcoming), clockCheck), nil
}

// backUp writes the backup of a scheduled time, records it, and removes old ones.
func (s *Scheduler) backUp(ctx context.Context, scheduled time.Time) error {
	to := s.open()
	if err := to.check(ctx); err != nil {
		return err
	}
	before, err := s.readRecord(ctx, raftstore.Cached())
	if err != nil {
		return err
	}
	begun := time.Now()
	pace := newPacer(s.cfg.Rate)
	h, size, err := to.existing(ctx, scheduled, pace)
	if bad, damaged := errors.AsType[*backup.Damaged](err); damaged {
		s.cfg.Logger.Warn("a scheduled backup is damaged, and will be written again", "file", to.fileName(scheduled), "error", bad)
	}
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		if h, size, err = s.create(ctx, to, scheduled, before, pace); err != nil {
			return err
		}
	}
	if err := s.write(ctx, before, scheduled, h.Time); err != nil {
		return &unrecorded{err}
	}
	s.metrics.bytes.WithLabelValues().Set(float64(size))
	s.metrics.duration.WithLabelValues().Set(time.Since(begun).Seconds())
	s.cfg.Logger.Info("scheduled backup written", "file", to.fileName(scheduled), "objects", h.Objects, "index", h.Index,
		"bytes", size, "duration", time.Since(begun))
	if err := to.prune(ctx, s.cfg.Keep, s.cfg.KeepAge, time.Now()); err != nil {
		s.cfg.Logger.Warn("old scheduled backups were not removed", "error", err)
	}
	return nil
}

// create writes a backup that is due, unless the record before changes meanwhile.
func (s *Scheduler) create(ctx context.Context, to destination, scheduled time.Time, before record, pace *pacer) (backup.Header, int64, error) {
	write, err := s.cfg.Begin(ctx)
	if err != nil {
		return backup.Header{}, 0, err
	}
	return to.create(ctx, scheduled, pace, write, func() error { return s.confirm(ctx, before) })
}

// confirm returns an error unless this node leads still, and the record is the one before.
func (s *Scheduler) confirm(ctx context.Context, before record) error {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	now, err := s.readRecord(ctx, raftstore.Quorum())
	if err != nil {
		return err
	}
	if before.object != nil && (now.object == nil || now.object.Version != before.object.Version) {
		return errSuperseded
	}
	return ctx.Err()
}

// unrecorded reports that the file was written, and its record was not.
type unrecorded struct{ err error }

func (e *unrecorded) Error() string { return "record the backup: " + e.err.Error() }
func (e *unrecorded) Unwrap() error { return e.err }

// report counts a failure and returns the pause before the next attempt. It logs a failure of one
// scheduled time once, unless the reason changes.
func (s *Scheduler) report(f *failures, scheduled time.Time, err error) time.Duration {
	s.metrics.failures.WithLabelValues(reason(err)).Inc()
	if !scheduled.Equal(f.scheduled) {
		f.pause = 0
	}
	f.pause = min(max(2*f.pause, retryPause), maxRetryPause)
	if text := reason(err); !scheduled.Equal(f.scheduled) || text != f.text {
		s.cfg.Logger.Error("scheduled backup failed and will be repeated", "scheduled", scheduled.UTC().Format(time.RFC3339),
			"reason", text, "error", err)
		f.scheduled, f.text = scheduled, text
	}
	return f.pause
}

// reason returns the label of a failure.
func reason(err error) string {
	_, refused := errors.AsType[*admin.Refused](err)
	_, damaged := errors.AsType[*backup.Damaged](err)
	_, notRecorded := errors.AsType[*unrecorded](err)
	switch {
	case refused:
		return "busy"
	case damaged:
		return "damaged"
	case notRecorded:
		return "not-recorded"
	case errors.Is(err, errSuperseded):
		return "superseded"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "no-space"
	case errors.Is(err, fs.ErrNotExist):
		return "missing-directory"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "read-only"
	case errors.Is(err, errUnreachable):
		return "unreachable"
	case errors.Is(err, raftstore.ErrUnavailable), errors.Is(err, raftstore.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return "unavailable"
	}
	return "other"
}
