package watch

import (
	"strings"
	"testing"
	"time"

	"quorate/apiserver/wire/negotiate"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// TestSendUntilSendsTheLastEvent: a stream of a collection that has ended sends the event at the
// index of the end, the deletion of the last object (K14).
func TestSendUntilSendsTheLastEvent(t *testing.T) {
	t.Parallel()
	hub, err := history.New(history.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Close()
	hub.Append(9, nil)
	changes := hub.Watch(state.ResourcePrefix("configmaps"), 9)
	last := change("10")
	last.Index, last.Type = 10, history.Deleted
	hub.Append(10, []*history.Event{last})
	end := NewEnd()
	end.At(10)
	st, w := testStream(t, negotiate.JSON)
	if err := st.sendUntil(t.Context(), end, changes); err != nil {
		t.Fatal(err)
	}
	if got := w.Body.String(); !strings.HasPrefix(got, `{"type":"DELETED"`) || strings.Count(got, "\n") != 1 {
		t.Errorf("the stream sends %q, want one DELETED", got)
	}
}

// TestCacheComparesEncoders: an object is encoded again if its slot holds the encoding by another
// encoder.
func TestCacheComparesEncoders(t *testing.T) {
	t.Parallel()
	st, _ := testStream(t, negotiate.JSON)
	c, value := &st.streams.cache, configMap("7")
	for i := range c.slots {
		c.slots[i].Store(&cacheEntry{cacheKey: cacheKey{&value[0], clock{ages: true}}, encoded: []byte("of another encoder")})
	}
	for range 2 { // the second one hits the cache
		got, err := c.encode(value, clock{}, time.Time{})
		if err != nil || string(got) != `"sometime"}` {
			t.Errorf("encodes %q, error %v", got, err)
		}
	}
}
