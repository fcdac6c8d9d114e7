package status

import (
	"net/http"
	"slices"
)

// NewWatchLater: a watch can't begin or go on here now, and may soon, here or elsewhere.
func NewWatchLater(why string) *Error {
	return failure(http.StatusTooManyRequests, TooManyRequests,
		"the watch can't be served now, please try again later: "+why, &Details{RetryAfterSeconds: 1})
}

// ForWatch returns a failure as a watch is told of it: what will pass becomes a 429. After that,
// and after hardly anything else, the caches of stock clients go on from the version that they
// have; after a 503 or 504 they list everything anew. One that waits for a version which has not
// been reached is told so, as it asked for that (C33).
func ForWatch(e *Error) *Error {
	s := &e.Status
	passes := s.Code == http.StatusServiceUnavailable || s.Code == http.StatusGatewayTimeout
	if !passes || s.Details != nil && slices.ContainsFunc(s.Details.Causes, func(c Cause) bool { return c.Reason == ResourceVersionTooLarge }) {
		return e
	}
	return NewWatchLater(s.Message)
}
