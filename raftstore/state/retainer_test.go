package state

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// steps returns n roots with one object of about 1,000 bytes, which each root replaces.
func steps(n int) []*Root {
	tree := NewTree()
	roots := make([]*Root, n)
	for i := range roots {
		tree.Set(object("pods\x00\x00x", uint64(i+1), 1000))
		tree.Advance(uint64(i + 1))
		roots[i] = tree.Publish()
	}
	return roots
}

// newRetainer returns a Retainer, and a function that reads its metrics by the end of their names.
func newRetainer(t *testing.T, c RetainerConfig) (*Retainer, func(name string) float64) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	c.Registerer = registry
	r, err := NewRetainer(c)
	if err != nil {
		t.Fatal(err)
	}
	return r, func(name string) float64 {
		t.Helper()
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		sum, found := 0.0, false
		for _, family := range families {
			if family.GetName() == "quorate_raftstore_retained_"+name {
				for _, m := range family.GetMetric() {
					sum, found = sum+m.GetGauge().GetValue()+m.GetCounter().GetValue(), true
				}
			}
		}
		if !found {
			t.Fatalf("no metric %s", name)
		}
		return sum
	}
}

func kept(r *Retainer, roots []*Root, now time.Time) string {
	b := make([]byte, len(roots))
	for i, root := range roots {
		b[i] = '-'
		if r.Get(root.Index(), now) == root {
			b[i] = 'x'
		}
	}
	return string(b)
}

func at(minutes int) time.Time { return time.Unix(1_000_000+int64(minutes)*60, 0) }

func TestRetainer_prune_drops_expired_roots(t *testing.T) {
	roots := steps(4)
	r, metric := newRetainer(t, RetainerConfig{MaxAge: 10 * time.Minute})
	for i, root := range roots[:3] {
		r.Retain(root, at(i))
	}
	r.Retain(roots[1], at(5)) // as a second list does
	if got := kept(r, roots, at(9)); got != "xxx-" {
		t.Fatalf("after 9 minutes %s", got)
	}
	if got := kept(r, roots, at(10)); got != "-xx-" {
		t.Fatalf("after 10 minutes %s", got)
	}
	r.Prune(roots[3], at(14))
	if len(r.roots) != 1 || r.roots[0].root != roots[1] {
		t.Fatalf("after 14 minutes it holds %d", len(r.roots))
	}
	if n := metric("evictions_total"); n != 2 {
		t.Errorf("%v evictions counted", n)
	}
	if s := metric("oldest_seconds"); s != 9*60 {
		t.Errorf("oldest age is %v s", s)
	}
}

func TestRetainer_drops_the_oldest_beyond_max_roots(t *testing.T) {
	roots := steps(5)
	r, metric := newRetainer(t, RetainerConfig{MaxRoots: 2})
	for _, i := range []int{4, 0, 2, 3} { // lists begin in any order
		r.Retain(roots[i], at(0))
	}
	if got := kept(r, roots, at(0)); got != "---xx" {
		t.Fatalf("it holds %s", got)
	}
	if n := metric("roots"); n != 2 {
		t.Errorf("%v roots counted", n)
	}
}

func TestRetainer_drops_roots_beyond_max_bytes(t *testing.T) {
	roots := steps(10)
	r, metric := newRetainer(t, RetainerConfig{MaxBytes: 3500})
	r.Retain(roots[0], at(0))
	r.Retain(roots[7], at(0))
	if got := kept(r, roots, at(0)); got != "-------x--" {
		t.Fatalf("it holds %s", got)
	}
	r.Prune(roots[9], at(0))
	if got := metric("bytes"); got < 3000 || got > 3500 {
		t.Errorf("the metric reports %v bytes", got)
	}
	if n := metric("evictions_total"); n != 1 {
		t.Errorf("%v evictions counted", n)
	}
}

func TestRetainer_drops_all_when_another_state_is_installed(t *testing.T) {
	roots := steps(2)
	r, metric := newRetainer(t, RetainerConfig{})
	r.Retain(roots[0], at(0))
	r.Clear()
	if got := kept(r, roots, at(0)); got != "--" || metric("roots") != 0 {
		t.Fatalf("it holds %s", got)
	}
	r.Retain(roots[1], at(0)) // by a list that began before the installation
	r.Prune(steps(1)[0], at(0))
	if got := kept(r, roots, at(0)); got != "--" || metric("evictions_total") != 2 {
		t.Fatalf("it holds %s", got)
	}
}

func TestRetainer_refuses_bad_bounds(t *testing.T) {
	if _, err := NewRetainer(RetainerConfig{MaxRoots: -1}); err == nil {
		t.Error("took a negative bound")
	}
}
