package schedule

import (
	"errors"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// makeUp bounds how far back in time due looks for the latest scheduled time, and so how many times
// it computes.
const makeUp = 24 * time.Hour

// Parse returns the times of a cron expression of five fields, or of a descriptor such as @daily or
// "@every 6h". Times are in UTC, unless the expression begins with CRON_TZ and a time zone.
func Parse(spec string) (cron.Schedule, error) {
	if zone, _, ok := strings.Cut(spec, " "); !ok && strings.Contains(zone, "TZ=") {
		return nil, errors.New("only a time zone") // which the library does not expect
	}
	if !strings.HasPrefix(spec, "TZ=") && !strings.HasPrefix(spec, "CRON_TZ=") {
		spec = "CRON_TZ=UTC " + spec
	}
	s, err := cron.ParseStandard(spec)
	if err != nil {
		return nil, err
	}
	if s.Next(time.Now()).IsZero() {
		return nil, errors.New("there is no such time")
	}
	return s, nil
}

// due returns the latest scheduled time after last that has passed, zero if there is none, and the
// first one that has not.
func due(s cron.Schedule, last, now time.Time) (passed, next time.Time) {
	if recent := s.Next(now.Add(-makeUp)); last.Before(now.Add(-makeUp)) && !recent.IsZero() && !recent.After(now) {
		last = now.Add(-makeUp)
	}
	next = s.Next(last)
	for !next.IsZero() && !next.After(now) {
		passed, next = next, s.Next(next)
	}
	return passed, next
}
