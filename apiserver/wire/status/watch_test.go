package status_test

import (
	"context"
	"testing"

	"quorate/apiserver/wire/status"
	"quorate/raftstore"
	"quorate/raftstore/history"
)

// Temporary failures become a 429, after which the caches of stock clients resume instead of
// listing again. Other failures stay unchanged.
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
