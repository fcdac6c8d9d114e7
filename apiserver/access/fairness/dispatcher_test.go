package fairness

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// levelNames returns the levels that have gauges.
func levelNames(t *testing.T, reg *prometheus.Registry) map[string]bool {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range families {
		if f.GetName() == "quorate_apiserver_fairness_seats" {
			for _, m := range f.GetMetric() {
				names[m.GetLabel()[0].GetValue()] = true
			}
		}
	}
	return names
}

// TestReplace: new levels take effect at once; requests keep their places in the former ones, until
// Close; levels that are not valid change nothing.
func TestReplace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := prometheus.NewRegistry()
		level := func(name string) []Level {
			return []Level{{Name: name, Share: 1, QueueLength: 10, MaxWait: time.Minute}}
		}
		d, err := New(Config{Seats: 1, Levels: level("before"), Registerer: reg})
		if err != nil {
			t.Fatal(err)
		}
		held := enter(t, d, "jane", 1)
		results := make(chan error, 2)
		wait := func() { results <- d.Enter(t.Context(), &Request{User: "joe", Cost: 1}, &Seat{}) }
		go wait()
		synctest.Wait()
		if err := d.Replace(nil); err == nil {
			t.Error("no levels are accepted")
		}
		if err := d.Replace(level("after")); err != nil {
			t.Fatal(err)
		}
		if names := levelNames(t, reg); len(names) != 1 || !names["after"] {
			t.Errorf("gauges of %v", names)
		}
		enter(t, d, "jim", 1).Leave()
		held.Leave()
		if err := <-results; err != nil {
			t.Errorf("a request that waited in a former level: %v", err)
		}

		held = enter(t, d, "jim", 1)
		go wait()
		synctest.Wait()
		if err := d.Replace(level("last")); err != nil {
			t.Fatal(err)
		}
		d.Close()
		if err := <-results; !errors.Is(err, ErrClosed) {
			t.Errorf("a request that waited in a former level when the node ended: %v", err)
		}
		held.Leave()
	})
}
