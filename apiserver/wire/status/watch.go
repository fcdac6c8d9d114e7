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

// ForWatch returns the failure that a watch sends for e. It is a 429 if e is temporary, that is a
// 503 or 504. After a 429, the caches of stock clients resume from their version; after a 503 or
// 504 they list all objects again. If the watch waits for a version that this node has not applied
// yet, ForWatch returns e itself (C33).
func ForWatch(e *Error) *Error {
	s := &e.Status
	passes := s.Code == http.StatusServiceUnavailable || s.Code == http.StatusGatewayTimeout
	if !passes || s.Details != nil && slices.ContainsFunc(s.Details.Causes, func(c Cause) bool { return c.Reason == ResourceVersionTooLarge }) {
		return e
	}
	return NewWatchLater(s.Message)
}
