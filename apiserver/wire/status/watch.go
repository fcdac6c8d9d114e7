package status

import (
	"net/http"
	"slices"
)

// NewWatchLater reports that a watch can't begin or continue on this node now, for a temporary
// reason.
func NewWatchLater(why string) *Error {
	return failure(http.StatusTooManyRequests, TooManyRequests,
		"the watch can't be served now, please try again later: "+why, &Details{RetryAfterSeconds: 1})
}

// ForWatch returns the failure that a watch sends for e: a temporary failure becomes a 429. After a
// 429, the caches of stock clients resume from their version; after a 503 or 504 they list all
// objects again. A watch that waits for a version that this cluster has not reached receives e
// itself (C33).
func ForWatch(e *Error) *Error {
	s := &e.Status
	passes := s.Code == http.StatusServiceUnavailable || s.Code == http.StatusGatewayTimeout
	if !passes || s.Details != nil && slices.ContainsFunc(s.Details.Causes, func(c Cause) bool { return c.Reason == ResourceVersionTooLarge }) {
		return e
	}
	return NewWatchLater(s.Message)
}
