// Package background keeps work going that no request waits for: tasks that an error doesn't end, and pauses that a context
// does. It owns no goroutines.
package background

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// RetryPause is how long a task waits after an error.
const RetryPause = time.Second

// Tasks are the tasks of one owner.
type Tasks struct {
	Log *slog.Logger
	// Errors counts tasks that failed and are tried again.
	Errors prometheus.Counter
}

// Persist runs a task until it is done, or ctx ends.
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
