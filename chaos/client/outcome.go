package client

import (
	"errors"
	"net/http"
	"strings"
)

// Outcome is what a client knows of a request after it.
type Outcome int

// The outcomes. Unknown covers everything that may have happened: a broken connection, a 504, a time-out.
const (
	OK Outcome = iota
	NotFound
	Conflict    // another version, or the name is taken
	Unavailable // surely not applied: 503, 429, and 507, as nobody begins to write on a full disk
	Unknown
	Refused // any other 4xx, or an answer that can't be read: a bug in the run or in the server
	Expired // what was asked for is said to be too old
)

func (o Outcome) String() string {
	return [...]string{"ok", "not found", "conflict", "unavailable", "unknown", "refused", "expired"}[o]
}

func outcomeOf(code int) Outcome {
	switch {
	case code/100 == 2:
		return OK
	case code == http.StatusNotFound:
		return NotFound
	case code == http.StatusConflict:
		return Conflict
	case code == http.StatusGone:
		return Expired
	case code == http.StatusServiceUnavailable, code == http.StatusTooManyRequests, code == http.StatusInsufficientStorage:
		return Unavailable
	case code >= 500:
		return Unknown
	default:
		return Refused
	}
}

// refusedStream is the HTTP/2 error code REFUSED_STREAM (RFC 9113 §7).
const refusedStream = 0x7

// goneAway is how net/http tells that the peer's GOAWAY names an earlier stream than that of the request. It exports no value for it;
// should the text change, such requests become Unknown, which is never wrong.
const goneAway = "http2: Transport received Server's graceful shutdown GOAWAY"

// unprocessed reports whether the peer said that it did nothing of the request (RFC 9113 §8.7).
func unprocessed(err error) bool {
	var reset streamError
	if errors.As(err, &reset) {
		return reset.Code == refusedStream
	}
	return strings.Contains(err.Error(), goneAway)
}

// streamError has the fields of the error that net/http makes of a stream's reset; errors.As of such an error fills it.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (streamError) Error() string { return "stream error" }
