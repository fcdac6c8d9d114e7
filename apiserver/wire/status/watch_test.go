package status_test

import (
	"context"
	"testing"

	"quorate/apiserver/wire/status"
	"quorate/raftstore"
	"quorate/raftstore/history"
)

// TestForWatch: what will pass is a 429, after which stock caches do not list anew; all else is
// told as it is.
func TestForWatch(t *testing.T) {
	t.Parallel()
	for _, err := range []error{raftstore.ErrUnavailable, raftstore.ErrClosed, raftstore.ErrTimeout, context.DeadlineExceeded} {
		failed, _ := status.From(err, status.Subject{})
		got := status.ForWatch(failed).Status
		if got.Code != 429 || got.Reason != status.TooManyRequests || got.Details.RetryAfterSeconds != 1 || len(got.Message) <= len(failed.Status.Message) {
			t.Errorf("%v becomes %s", err, got.JSON())
		}
	}
	for _, err := range []error{&raftstore.Future{Want: 9, Have: 3}, &history.Compacted{Want: 3, Oldest: 9}, status.NewTooManyRequests(), status.NewUnauthorized()} {
		failed, _ := status.From(err, status.Subject{})
		if got := status.ForWatch(failed); got != failed {
			t.Errorf("%v becomes %s", err, got.Status.JSON())
		}
	}
}
