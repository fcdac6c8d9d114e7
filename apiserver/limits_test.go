package apiserver

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestGateAfterRefusals: requests that were refused take no room from those that come once the
// burst is over.
func TestGateAfterRefusals(t *testing.T) {
	t.Parallel()
	const bound = 3
	g := &gate{max: bound, hits: prometheus.NewCounter(prometheus.CounterOpts{Name: "hits"})}
	for burst := range 3 {
		for i := range bound {
			if !g.enter() {
				t.Fatalf("burst %d: request %d of %d was refused", burst, i+1, bound)
			}
		}
		for range 2 * bound {
			if g.enter() {
				t.Fatalf("burst %d: more than %d requests at once", burst, bound)
			}
		}
		for range bound {
			g.leave()
		}
		if n := g.in.Load(); n != 0 {
			t.Fatalf("burst %d: %d requests are counted when all have left", burst, n)
		}
	}
}
