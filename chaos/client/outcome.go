package client

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Outcome is the outcome of a request, as far as the client knows it.
type Outcome int

// The outcomes. Unknown covers everything that may have happened: a broken connection, a 504, a
// time-out.
const (
	OK Outcome = iota
	NotFound
	Conflict    // another version, or the name is taken
	Unavailable // surely not applied: 503, 429, and 507, as nobody begins to write on a full disk
	Unknown
	// Refused is a response that no correct server gives to such a request: a status code other
	// than 2xx and those in failures, a failure whose body is not a Status with that code and a
	// reason of it, or a success whose body cannot be decoded. It does not say whether a write was
	// applied.
	Refused
	Expired // what was asked for is said to be too old
)

func (o Outcome) String() string {
	return [...]string{"ok", "not found", "conflict", "unavailable", "unknown", "refused", "expired"}[o]
}

// failures are the codes that a correct server may fail a request with, the outcome of each, and
// the reasons that its Status may give.
var failures = map[int]struct {
	outcome Outcome
	reasons []string
}{
	http.StatusNotFound:            {NotFound, []string{"NotFound"}},
	http.StatusConflict:            {Conflict, []string{"Conflict", "AlreadyExists"}},
	http.StatusGone:                {Expired, []string{"Expired"}},
	http.StatusTooManyRequests:     {Unavailable, []string{"TooManyRequests"}},
	http.StatusServiceUnavailable:  {Unavailable, []string{"ServiceUnavailable"}},
	http.StatusInsufficientStorage: {Unavailable, []string{"InsufficientStorage"}},
	http.StatusGatewayTimeout:      {Unknown, []string{"Timeout"}},
}

// outcomeOf judges a whole answer. flaw says what is wrong with one that is Refused, and is empty
// for all others.
func outcomeOf(code int, contentType string, body []byte) (outcome Outcome, flaw string) {
	if code/100 == 2 {
		return OK, ""
	}
	if _, known := failures[code]; !known {
		return Refused, fmt.Sprintf("a correct server does not answer %d here", code)
	}
	s, err := parseStatus(contentType, body)
	if err != nil {
		return Refused, fmt.Sprintf("the body of %d is no Status: %v", code, err)
	}
	return s.outcome(code)
}

// refusedStream is the HTTP/2 error code REFUSED_STREAM (RFC 9113 §7).
const refusedStream = 0x7

// goneAway is part of the error text of net/http for a request whose stream follows the last one
// that the peer's GOAWAY frame names. net/http exports no error value for it. If the text changes,
// such requests become Unknown, which is always correct.
const goneAway = "http2: Transport received Server's graceful shutdown GOAWAY"

// unprocessed reports whether the peer said that it did nothing of the request (RFC 9113 §8.7).
func unprocessed(err error) bool {
	var reset streamError
	if errors.As(err, &reset) {
		return reset.Code == refusedStream
	}
	return strings.Contains(err.Error(), goneAway)
}

// streamError has the fields of the error that net/http makes of a stream's reset; errors.As of
// such an error fills it.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (streamError) Error() string { return "stream error" }
