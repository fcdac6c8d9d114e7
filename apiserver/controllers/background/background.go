// Package background runs work that no request waits for: Persist repeats a task until it succeeds,
// Pause waits unless the context ends. The package owns no goroutines. Packages garbage, lifecycle,
// thirdparty and rbac share it, so that each of their tasks is retried, logged and counted alike.
package background

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// RetryPause is how long Persist waits after a failure.
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
		t.Log.Warn("background task failed; it is tried again", "task", name, "error", err)
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
