package history

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quorate/raftstore/state"
)

// TestConcernedRemoves: watchers that are removed while they are found hide no others, whichever
// labels they require.
func TestConcernedRemoves(t *testing.T) {
	random := rand.New(rand.NewPCG(14, 1))
	for range 2000 {
		var index Index[int]
		pairs, expected := map[string]string{}, 0
		for i := range 1 + random.IntN(60) {
			name := fmt.Sprintf("%02d", i)
			if random.IntN(2) == 0 {
				index.Add(WithLabel(name, "v"), i)
				expected++
			} else if random.IntN(2) == 0 {
				index.Add(WithLabel(name, "other"), i)
			}
			if index.groups[WithLabel(name, "v")] != nil || random.IntN(2) == 0 {
				pairs[name] = "v"
			}
		}
		o := &state.Object{Key: "pods\x00a\x00x", Labels: state.NewAttributes(pairs)}
		pairs["zz"] = "v"
		previous := &state.Object{Key: o.Key, Labels: state.NewAttributes(pairs)}
		found := 0
		index.Concerned([]*Event{{Index: 1, Object: o, Previous: previous}}, func(_ *Event, v int) {
			found++
			if random.IntN(2) == 0 {
				index.Remove(WithLabel(fmt.Sprintf("%02d", v), "v"), v)
			}
		})
		if found != expected {
			t.Fatalf("%d watchers were found, want %d", found, expected)
		}
	}
}
