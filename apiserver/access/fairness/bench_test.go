package fairness

import (
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func newBenchmark(tb testing.TB) (*Dispatcher, *Request) {
	tb.Helper()
	reg := prometheus.NewRegistry()
	d, err := New(Config{Seats: 2000, Adjuster: NewAdjuster(reg), Registerer: reg})
	if err != nil {
		tb.Fatal(err)
	}
	// It matches no level before the last, so that all rules are tried.
	return d, &Request{User: "jane", Groups: []string{"developers", "system:authenticated"}, Verb: "get", Resource: "pods"}
}

// BenchmarkEnter is what a request costs that finds seats.
func BenchmarkEnter(b *testing.B) {
	d, r := newBenchmark(b)
	b.Run("serial", func(b *testing.B) {
		b.ReportAllocs()
		var s Seat
		for b.Loop() {
			if err := d.Enter(context.Background(), r, &s); err != nil {
				b.Fatal(err)
			}
			s.Leave()
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			var s Seat
			for pb.Next() {
				if err := d.Enter(context.Background(), r, &s); err != nil {
					b.Error(err)
				}
				s.Leave()
			}
		})
	})
}

func TestEnterAllocatesNothing(t *testing.T) {
	d, r := newBenchmark(t)
	s := &Seat{}
	if n := testing.AllocsPerRun(100, func() {
		if err := d.Enter(t.Context(), r, s); err != nil {
			t.Fatal(err)
		}
		s.Leave()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
