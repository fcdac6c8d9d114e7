package route_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/rest/route"
)

func totals(t *testing.T, m *route.Metrics) route.Totals {
	t.Helper()
	sums, err := m.Totals()
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

func TestTotals(t *testing.T) {
	t.Parallel()
	m := route.NewMetrics(prometheus.NewRegistry())
	m.Series("get", "Pod").Observe(200, 3*time.Millisecond)
	before := totals(t, m)
	for range 98 {
		m.Series("get", "Pod").Observe(200, 600*time.Microsecond)
	}
	m.Series("list", "Node").Observe(503, 2*time.Second)
	m.Series("list", "Node").Observe(504, 2*time.Minute)
	m.Series("deletecollection", "Node").Observe(200, 30*time.Millisecond)
	m.Series("get", "none").Observe(500, time.Second) // no object
	m.Series("create", "SelfSubjectReview").Observe(201, time.Second)
	m.Series("watch", "Pod").Observe(200, time.Hour)
	m.Series("snapshot", "none").Observe(200, time.Second)
	after := totals(t, m)
	reads, writes := after.Reads.Since(before.Reads), after.Writes.Since(before.Writes)
	if reads.Count != 100 || writes.Count != 1 || after.Errors-before.Errors != 2 {
		t.Errorf("%d reads, %d writes, %v errors", reads.Count, writes.Count, after.Errors-before.Errors)
	}
	for _, tc := range []struct {
		share, seconds float64
	}{{.49, .00075}, {.99, 2.5}, {1, 60}} {
		if got, ok := reads.Quantile(tc.share); !ok || math.Abs(got-tc.seconds) > 1e-9 {
			t.Errorf("the quantile %v of the reads is %v, want %v", tc.share, got, tc.seconds)
		}
	}
	if got, ok := before.Writes.Quantile(.99); ok {
		t.Errorf("without writes their quantile is %v", got)
	}
}

// BenchmarkTotals adds up as many series as a node has whose clients use a hundred pairs of verb
// and kind.
func BenchmarkTotals(b *testing.B) {
	m := route.NewMetrics(prometheus.NewRegistry())
	for _, verb := range []string{"get", "list", "create", "update", "delete"} {
		for kind := range 20 {
			m.Series(verb, fmt.Sprint("Kind", kind)).Observe(200, time.Millisecond)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Totals(); err != nil {
			b.Fatal(err)
		}
	}
}
