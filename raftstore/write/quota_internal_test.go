package write

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore/state"
)

// TestAppliedCreateCountsOnce: a create that the state contains and whose proposal is not released
// yet takes no room from another one.
func TestAppliedCreateCountsOnce(t *testing.T) {
	t.Parallel()
	tree := state.NewTree()
	root := func() *state.Root { return tree.Publish() }
	q := newQuotas(Quota{Objects: map[string]int{"pods": 2}}, newQuotaMetrics(prometheus.NewRegistry()))
	create := func(name string) *command {
		return &command{Precondition: state.Precondition{Key: state.NewKey("pods", "a", name), Creates: true}}
	}
	first, err := q.reserve(create("first"), root)
	if err != nil {
		t.Fatal(err)
	}
	tree.Advance(1)
	tree.Set(&state.Object{Key: first.key, Version: 1})
	second, err := q.reserve(create("second"), root)
	if err != nil {
		t.Fatalf("with one object of two: %v", err)
	}
	if _, err := q.reserve(create("third"), root); err == nil {
		t.Error("a third create was accepted")
	}
	q.release(second) // as after a failed proposal
	if _, err := q.reserve(create("third"), root); err != nil {
		t.Errorf("after a release: %v", err)
	}
	q.release(first)
	if len(q.creates) != 1 {
		t.Errorf("%d collections have creates under way, want 1", len(q.creates))
	}
}

// TestGrowthUnderWayCounts: a write takes room from another one before it is applied, and until it
// is released.
func TestGrowthUnderWayCounts(t *testing.T) {
	t.Parallel()
	root := state.NewTree().Publish()
	current := func() *state.Root { return root }
	metrics := newQuotaMetrics(prometheus.NewRegistry())
	create := func(name string) *command {
		return &command{Precondition: state.Precondition{Key: state.NewKey("pods", "a", name), Creates: true}, size: 500}
	}
	free, err := newQuotas(Quota{StateBytes: 1 << 40}, metrics).reserve(create("first"), current)
	if err != nil || free.growth == 0 {
		t.Fatalf("a create grows the state by %d bytes, %v", free.growth, err)
	}
	q := newQuotas(Quota{StateBytes: root.Bytes() + free.growth*3/2}, metrics)
	first, err := q.reserve(create("first"), current)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.reserve(create("second"), current); err == nil {
		t.Error("two creates under way exceed the bytes of the state")
	}
	q.release(first) // as after a failed proposal
	if _, err := q.reserve(create("second"), current); err != nil {
		t.Errorf("after a release: %v", err)
	}
}

// BenchmarkReserve is what quotas add to a create.
func BenchmarkReserve(b *testing.B) {
	tree := state.NewTree()
	for i := range 100_000 {
		tree.Advance(uint64(i + 1))
		tree.Set(&state.Object{Key: state.NewKey("pods", "a", string(rune('a'+i%26))+string(rune(i))), Version: uint64(i + 1)})
	}
	root := tree.Publish()
	c := &command{Precondition: state.Precondition{Key: state.NewKey("pods", "a", "new"), Creates: true}, size: 500}
	for name, quota := range map[string]Quota{
		"bytes":   {StateBytes: 1 << 40},
		"objects": {StateBytes: 1 << 40, Objects: map[string]int{AnyResource: 1 << 30}},
	} {
		b.Run(name, func(b *testing.B) {
			q := newQuotas(quota, newQuotaMetrics(prometheus.NewRegistry()))
			b.ReportAllocs()
			for b.Loop() {
				r, err := q.reserve(c, func() *state.Root { return root })
				if err != nil {
					b.Fatal(err)
				}
				q.release(r)
			}
		})
	}
}
