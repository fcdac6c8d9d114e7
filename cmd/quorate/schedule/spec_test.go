package schedule

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestParse(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 11, 23, 12, 34, 56, 0, time.UTC)
	for spec, want := range map[string]string{
		"0 3 * * *": "2026-11-24T03:00:00Z", "@daily": "2026-11-24T00:00:00Z", "@every 90m": "2026-11-23T14:04:56Z",
		"CRON_TZ=Europe/Berlin 0 3 * * *": "2026-11-24T02:00:00Z",
	} {
		s, err := Parse(spec)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		if got := s.Next(from).UTC().Format(time.RFC3339); got != want {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
	}
	for _, spec := range []string{"", "daily", "* * * *", "61 * * * *", "0 0 30 2 *", "CRON_TZ=UTC", "TZ=Nowhere/Here 0 3 * * *", "@every soon"} {
		if _, err := Parse(spec); err == nil {
			t.Errorf("%q is accepted", spec)
		}
	}
}

// Of the times that were missed, the latest one is due.
func TestDue(t *testing.T) {
	t.Parallel()
	hourly, err := Parse("@hourly")
	if err != nil {
		t.Fatal(err)
	}
	yearly, err := Parse("@yearly")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 23, 12, 34, 56, 0, time.UTC)
	at := func(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		name                    string
		last, now, passed, next time.Time
		yearly                  bool
	}{
		{name: "none", last: at(23, 12), now: now, next: at(23, 13)},
		{name: "at the time itself", last: at(23, 11), now: at(23, 12), passed: at(23, 12), next: at(23, 13)},
		{name: "one", last: at(23, 11), now: now, passed: at(23, 12), next: at(23, 13)},
		{name: "several", last: at(23, 2), now: now, passed: at(23, 12), next: at(23, 13)},
		{name: "those of years", last: time.Unix(0, 0), now: now, passed: at(23, 12), next: at(23, 13)},
		{name: "the clock was set back", last: at(25, 0), now: now, next: at(25, 1)},
		{name: "none of this year", last: at(1, 0), now: now, next: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), yearly: true},
		{name: "that of the year", last: at(1, 0).AddDate(-1, 0, 0), now: now, passed: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
			next: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), yearly: true},
	} {
		s := hourly
		if c.yearly {
			s = yearly
		}
		if passed, next := due(s, c.last, c.now); !passed.Equal(c.passed) || !next.Equal(c.next) {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, passed, next, c.passed, c.next)
		}
	}
}

// What passes a pacer exceeds its rate by one burst only, and waits no longer than its context.
func TestPacer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, begun := newPacer(syncBytes), time.Now()
		for range 10 {
			if err := p.wait(t.Context(), 2*syncBytes); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begun).Round(time.Millisecond); took != 19*time.Second {
			t.Errorf("20 bursts took %s, want 19s", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.wait(ctx, 1); err == nil {
			t.Error("the wait does not end with its context")
		}
		if err := newPacer(0).wait(t.Context(), 100*syncBytes); err != nil || time.Since(begun).Round(time.Millisecond) != 19*time.Second {
			t.Errorf("no bound: %v", err)
		}
	})
}
