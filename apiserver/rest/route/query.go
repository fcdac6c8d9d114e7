package route

import (
	"net/url"
	"strconv"
	"time"

	"quorate/apiserver/wire/status"
)

// Query is the parsed query of a request; nil when it has none.
type Query url.Values

// Has reports whether a parameter is there, be it empty.
func (q Query) Has(name string) bool { return url.Values(q).Has(name) }

// Get returns the first value of a parameter.
func (q Query) Get(name string) string { return url.Values(q).Get(name) }

// Bool reads a boolean parameter; one without a value is true, a missing one false (A57).
func (q Query) Bool(name string) (bool, error) {
	values, ok := q[name]
	if !ok {
		return false, nil
	}
	if values[0] == "" {
		return true, nil
	}
	b, err := strconv.ParseBool(values[0])
	if err != nil {
		return false, status.NewBadRequest("invalid value for " + name + ": " + strconv.Quote(values[0]) + " is not a boolean")
	}
	return b, nil
}

// Timeout reads the parameter timeout (I24): 0 when it is missing.
func (q Query) Timeout() (time.Duration, error) {
	text := q.Get("timeout")
	if text == "" {
		return 0, nil
	}
	asked, err := time.ParseDuration(text)
	if err != nil || asked < 0 {
		return 0, status.NewBadRequest("invalid timeout: " + text + " is not a duration")
	}
	return asked, nil
}

// Count reads a non-negative integer parameter; ok is false when it is missing or empty (C30, C43).
func (q Query) Count(name string) (n int64, ok bool, err error) {
	text := q.Get(name)
	if text == "" {
		return 0, false, nil
	}
	n, err = strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, false, status.NewBadRequest("invalid value for " + name + ": " + strconv.Quote(text) +
			" is not a non-negative integer")
	}
	return n, true, nil
}
