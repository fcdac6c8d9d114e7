package rest

import (
	"net/http/httptest"
	"testing"
	"time"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/route"
)

// TestWatchTimeout: without a wish a stream lives for 30 to 60 minutes, not all streams equally
// long (D29); a wish is bounded (D28, D30).
func TestWatchTimeout(t *testing.T) {
	t.Parallel()
	timeout := func(query string) time.Duration {
		t.Helper()
		opts, err := (&resource{}).watchOptions(&route.Call{Services: &route.Services{}, R: httptest.NewRequest("GET", "/"+query, nil)})
		if err != nil {
			t.Fatal(err)
		}
		return opts.timeout
	}
	seen := map[time.Duration]bool{}
	for range 100 {
		got := timeout("")
		if seen[got] = true; got < 30*time.Minute || got >= time.Hour {
			t.Errorf("lives for %s", got)
		}
	}
	if len(seen) < 50 {
		t.Errorf("a hundred streams have %d timeouts", len(seen))
	}
	for query, want := range map[string]time.Duration{
		"?timeoutSeconds=7": 7 * time.Second, "?timeoutSeconds=7&timeout=3s": 3 * time.Second, "?timeoutSeconds=3&timeout=7s": 3 * time.Second,
		"?timeout=3s": 3 * time.Second, "?timeoutSeconds=999999999999": time.Hour,
	} {
		if got := timeout(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestListDeadline: timeoutSeconds bounds a list (C42), and nothing else.
func TestListDeadline(t *testing.T) {
	t.Parallel()
	for verb, want := range map[string]time.Duration{route.VerbList: 2 * time.Second, route.VerbGet: time.Minute} {
		c := &route.Call{
			Services: &route.Services{}, R: httptest.NewRequest("GET", "/?timeoutSeconds=2", nil), Endpoint: &route.Endpoint{Verb: verb, Kind: &schema.Kind{}},
		}
		before := time.Now()
		ctx, err := c.Timeout(time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		defer ctx.Stop()
		if deadline, ok := ctx.Deadline(); !ok || deadline.Before(before.Add(want)) || deadline.After(time.Now().Add(want)) {
			t.Errorf("%s ends at %s", verb, deadline)
		}
	}
}
