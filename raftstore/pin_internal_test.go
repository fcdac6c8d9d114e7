package raftstore

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"quorate/proto/logpb"
)

// TestPinsAreSharedForAMinuteOnly: a state is kept for as long as its pin is young, and pages of a list are promised PinnedFor
// from when Pin returned. A pin of any age would do on an idle cluster, where nothing is written, but for that promise.
func TestPinsAreSharedForAMinuteOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplica(t, nil)
		pin := func(index uint64) {
			c, err := encode(command{pins: true}, &logpb.Entry{Op: &logpb.Entry_Pin{Pin: &logpb.Pin{}}})
			if err != nil {
				t.Fatal(err)
			}
			if answer := r.Machine().ApplyBatch([]*raft.Log{commandAt(index, c.data)})[0]; answer != nil {
				t.Fatal(answer)
			}
		}
		check := func(want uint64) {
			t.Helper()
			if index, shared := r.store.pinnedNow(); index != want || shared != (want > 0) {
				t.Errorf("shared is pin %d (%t), want %d", index, shared, want)
			}
		}
		pin(1)
		check(1)
		time.Sleep(pinShared - time.Nanosecond)
		check(1)
		time.Sleep(time.Nanosecond)
		check(0) // the next caller proposes one anew
		pin(2)
		check(2)
		time.Sleep(PinnedFor - time.Nanosecond)
		if r.Retained(2) == nil {
			t.Error("a state is gone before its time")
		}
	})
}
