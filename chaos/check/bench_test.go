package check_test

import (
	"testing"

	"quorate/chaos/check"
)

// BenchmarkAll judges histories as long runs make them: 200,000 operations of 300 clients, and 20
// watchers.
func BenchmarkAll(b *testing.B) {
	for name, of := range map[string]size{
		"many keys and a hundred lists": {clients: 300, keys: 500, steps: 700, watchers: 20, unknown: 0.02, lists: 2000, maxLate: 2000, steady: true, apart: true},
		"three hot keys":                {clients: 300, keys: 3, steps: 700, watchers: 20, unknown: 0.02, lists: 100, maxLate: 2000, steady: true},
	} {
		b.Run(name, func(b *testing.B) {
			record := simulate(1, of)
			b.ReportAllocs()
			for b.Loop() {
				if v := check.All(b.Context(), record, check.Options{}); !v.OK() {
					requireOK(b, v)
				}
			}
			b.ReportMetric(float64(len(record.Ops)), "operations")
			b.ReportMetric(float64(len(record.Watches[0].Events)), "events/watcher")
		})
	}
}
