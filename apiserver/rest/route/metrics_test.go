package route_test

import (
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/rest/route"
)

// A node has hundreds of pairs of verb and kind, most of which nobody uses: these cost a scrape
// nothing.
func TestSeriesAppearOnFirstUse(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	m := route.NewMetrics(reg)
	used, unused := m.Series("get", "Pod"), m.Series("list", "Pod")
	count := func() int {
		t.Helper()
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, f := range families {
			n += len(f.GetMetric())
		}
		return n
	}
	if n := count(); n != 0 {
		t.Errorf("%d series before the first request", n)
	}

	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for range 100 {
				for _, code := range []int{200, 404, 503} {
					used.Observe(code, time.Millisecond)
				}
			}
		})
	}
	clients.Wait()
	if n := count(); n != 4 {
		t.Errorf("%d series after requests with three codes, want three counters and one histogram", n)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, s := range f.GetMetric() {
			if h := s.GetHistogram(); h != nil && h.GetSampleCount() != 2400 {
				t.Errorf("the histogram has %d requests of 2400", h.GetSampleCount())
			} else if c := s.GetCounter(); c != nil && c.GetValue() != 800 {
				t.Errorf("%v has %v requests of 800", s.GetLabel(), c.GetValue())
			}
		}
	}

	unused.ObserveDropped(0, "Warn")
	m.Series("watch", "Pod").Observe(200, time.Hour)
	if n := count(); n != 6 {
		t.Errorf("%d series after a watch and a body, want no histogram of the watch", n)
	}
}
