package read

import (
	"testing"
	"testing/synctest"
	"time"

	"quorate/raftstore/state"
)

// TestPinsAreSharedForAMinuteOnly checks that callers share a pin for at most sharedFor. A node
// retains a state for a fixed time after the proposal of its pin, but a list relies on PinnedFor
// after Pin has returned. So even on an idle cluster, where an older pin has the newest state as
// well, a caller after sharedFor must get another pin.
func TestPinsAreSharedForAMinuteOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		retainer, err := state.NewRetainer(state.RetainerConfig{})
		if err != nil {
			t.Fatal(err)
		}
		r, tree := NewRetained(retainer), state.NewTree()
		var root *state.Root
		pin := func(index uint64) {
			tree.Advance(index)
			root = tree.Publish()
			r.Pin(root, time.Now())
		}
		check := func(want uint64) {
			t.Helper()
			if index, shared := r.sharedPin(root); index != want || shared != (want > 0) {
				t.Errorf("shared is pin %d (%t), want %d", index, shared, want)
			}
		}
		pin(1)
		check(1)
		time.Sleep(sharedFor - time.Nanosecond)
		check(1)
		time.Sleep(time.Nanosecond)
		check(0) // the next caller must propose another pin
		pin(2)
		check(2)
		time.Sleep(PinnedFor - time.Nanosecond)
		if r.Get(2) == nil {
			t.Error("a state was dropped too early")
		}
	})
}
