// Package background contains the helpers of tasks that no request waits for: Tasks.Persist repeats
// a task until it succeeds, and Pause sleeps until a duration has passed or its context ends. The
// controllers and package rbac use them, so that all retry, log and count failures in the same way.
// The package starts no goroutines.
package background

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// RetryPause is the pause of Persist after a failure.
const RetryPause = time.Second

// Tasks are the tasks of one owner.
type Tasks struct {
	Log *slog.Logger
	// Errors counts failures.
	Errors prometheus.Counter
}

// Persist runs a task until it returns nil or ctx ends. It logs and counts each failure and waits
// RetryPause before the next attempt.
func (t Tasks) Persist(ctx context.Context, name string, run func(ctx context.Context) error) {
	for ctx.Err() == nil {
		err := run(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		t.Errors.Inc()
		t.Log.Warn("background task failed and will be retried", "task", name, "error", err)
		Pause(ctx, RetryPause)
	}
}

// Pause waits for d, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
