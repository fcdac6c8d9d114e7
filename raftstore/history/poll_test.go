package history

import (
	"slices"
	"testing"

	"quorate/raftstore/state"
)

func TestCursor_poll_returns_what_is_in_memory(t *testing.T) {
	hub, _ := newHub(t, Config{})
	c := hub.Watch(state.NamespacePrefix("pods", "a"), 0)
	if events, reached := c.Poll(); len(events) > 0 || !reached {
		t.Fatalf("%v, %v of nothing", indexes(events), reached)
	}
	hub.Append(3, []*Event{event(1, pod("a"), 1), event(2, pod("b"), 1), event(3, pod("a"), 1)})
	if events, reached := c.Poll(); !reached || !slices.Equal(indexes(events), []uint64{1, 3}) {
		t.Fatalf("%v, %v", indexes(events), reached)
	}
	if events, reached := c.Poll(); len(events) > 0 || !reached {
		t.Fatalf("%v, %v once all was returned", indexes(events), reached)
	}
}

func TestCursor_poll_leaves_the_log_and_the_end_to_next(t *testing.T) {
	hub, _ := newHub(t, Config{Log: &fakeLog{}})
	hub.Begin(5, 5)
	behind, current := hub.Watch(pods, 3), hub.Watch(pods, 5)
	if events, reached := behind.Poll(); len(events) > 0 || reached {
		t.Errorf("%v, %v before memory", indexes(events), reached)
	}
	if _, reached := current.Poll(); !reached {
		t.Error("memory does not reach where it begins")
	}
	hub.Close()
	if _, reached := current.Poll(); reached {
		t.Error("a closed hub has more to come")
	}
}
