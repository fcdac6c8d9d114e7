package history

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

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
	hub.Begin(5)
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

func TestCursor_changed_closes_for_all_of_the_resource(t *testing.T) {
	hub, _ := newHub(t, Config{})
	c := hub.Watch(state.NamespacePrefix("pods", "a"), 0)
	changed := c.Changed()
	hub.Append(1, []*Event{event(1, state.NewKey("nodes", "", "x"), 1)})
	if closed(changed) {
		t.Fatal("closed for another resource")
	}
	hub.Append(2, []*Event{event(2, pod("b"), 1)}) // in another namespace
	if !closed(changed) {
		t.Fatal("not closed for another namespace")
	}
	if changed = c.Changed(); closed(changed) {
		t.Fatal("closed before anything happened")
	}
	hub.Close()
	if !closed(changed) {
		t.Fatal("not closed with the hub")
	}
}

// Changed works after the hub has dropped the topic that the cursor was on.
func TestCursor_changed_follows_its_resource(t *testing.T) {
	hub, _ := newHub(t, Config{MaxTopics: 1})
	c := hub.Watch(pods, 0)
	hub.Watch(state.ResourcePrefix("nodes"), 0)
	before := c.Changed()
	hub.Append(1, nil)
	if !closed(before) || !c.topic.view.Load().retired {
		t.Fatal("the hub forgot nothing")
	}
	changed := c.Changed()
	hub.Append(2, []*Event{event(2, pod("a"), 1)})
	if !closed(changed) {
		t.Fatal("not closed for an event on the topic that came after")
	}
	if events, reached := c.Poll(); !reached || !slices.Equal(indexes(events), []uint64{2}) {
		t.Fatalf("%v, %v", indexes(events), reached)
	}
}

// Await ends with a change or with its context, and is counted as a waiting cursor.
func TestCursor_await_ends_like_next(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, metric := newHub(t, Config{})
		c := hub.Watch(pods, 0)
		ctx, cancel := context.WithCancel(t.Context())
		for _, end := range []func(){func() { hub.Append(1, run(1, 1, 1)) }, cancel} {
			changed := c.Changed()
			done := make(chan struct{})
			go func() { c.Await(ctx, changed); close(done) }()
			synctest.Wait()
			if n := metric("cursors_waiting"); n != 1 {
				t.Errorf("%v cursors wait", n)
			}
			end()
			<-done
			if n := metric("cursors_waiting"); n != 0 {
				t.Errorf("%v cursors wait after the end", n)
			}
		}
	})
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
