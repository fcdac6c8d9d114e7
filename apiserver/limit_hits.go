package apiserver

import (
	"context"
	"errors"

	"quorate/apiserver/limit"
	"quorate/raftstore"
)

// countReached counts a bound that a request reached without failing.
func (m *metrics) countReached(name limit.Name) { m.reached[name].Inc() }

// countLimit counts a failed request if a bound is the reason.
func (m *metrics) countLimit(err error) {
	name := limit.Of(err)
	switch {
	case name != "":
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, raftstore.ErrTimeout):
		name = limit.RequestTime
	case errors.Is(err, raftstore.ErrTooLarge):
		name = limit.EntrySize
	default:
		return
	}
	m.reached[name].Inc()
}
