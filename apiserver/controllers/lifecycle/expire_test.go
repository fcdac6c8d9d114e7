package lifecycle

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"

	kindfiles "quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/objects/validation"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

func catalogOf(t *testing.T) *schema.Catalog {
	t.Helper()
	catalog, err := schema.Load(kindfiles.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

// TestExpiry_keeps_one_deadline_per_object checks that the number of deadlines is bounded by the
// number of pods that are being deleted, however often these are written or created again (G13).
func TestExpiry_keeps_one_deadline_per_object(t *testing.T) {
	t.Parallel()
	k := catalogOf(t).Stored("pods")
	hub, err := history.New(history.Config{})
	if err != nil {
		t.Fatal(err)
	}
	e := &expiry{kind: k}
	changes, index := hub.Watch(stored.Prefix(k, ""), 0), uint64(0)
	happens := func(does history.Type, name, deletion string) {
		index++
		o := &state.Object{Key: stored.Key(k, "ns", name), Version: index, Value: fmt.Appendf(nil,
			`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q%s},"spec":{}}`, name, deletion)}
		hub.Append(index, []*history.Event{{Index: index, Type: does, Object: o}})
		if err := e.followToDeadline(t.Context(), changes); err != nil {
			t.Fatal(err)
		}
	}
	going := func(at time.Time) string {
		return fmt.Sprintf(`,"deletionTimestamp":%q,"deletionGracePeriodSeconds":3600`, at.UTC().Format(time.RFC3339))
	}
	hour := time.Now().Add(time.Hour).Truncate(time.Second)
	happens(history.Added, "p", "")
	for range 10 {
		happens(history.Modified, "p", going(hour))
	}
	happens(history.Modified, "p", going(hour.Add(-time.Minute)))
	happens(history.Modified, "q", going(hour))
	if e.next.len() != 2 || !e.next.first().at.Equal(hour.Add(-time.Minute)) {
		t.Errorf("knows %+v", e.next.heap.items)
	}
	for range 10 {
		happens(history.Deleted, "p", going(hour))
		happens(history.Added, "p", "")
	}
	if e.next.len() != 1 || e.next.first().key != stored.Key(k, "ns", "q") {
		t.Errorf("knows %+v", e.next.heap.items)
	}
}

// TestExpiry_waits_for_the_current_deadline checks that an object is not removed before its current
// deadline, even if an earlier one was recorded (G13).
func TestExpiry_waits_for_the_current_deadline(t *testing.T) {
	t.Parallel()
	m, l := newMemory(t)
	e := &expiry{Lifecycle: l, kind: m.catalog.Stored("pods")}
	deadline := time.Now().Add(time.Hour).Truncate(time.Second)
	key := stored.Key(e.kind, "ns", "p")
	value := fmt.Appendf(nil, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","resourceVersion":"",`+
		`"deletionTimestamp":%q,"deletionGracePeriodSeconds":3600},"spec":{"nodeName":"n"}}`, deadline.UTC().Format(time.RFC3339))
	offset := uint32(len(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","resourceVersion":"`))
	if err := m.put(key, &state.Object{Value: value, VersionOffset: offset}); err != nil {
		t.Fatal(err)
	}
	if err := e.remove(t.Context(), m.tree.Get(key), deadline.Add(-time.Second)); err != nil || m.tree.Get(key) == nil {
		t.Fatalf("a second before its deadline: %v, %v", m.tree.Get(key), err)
	}
	counts := func(want float64) {
		t.Helper()
		var m dto.Metric
		if err := l.metrics.expired.Write(&m); err != nil {
			t.Fatal(err)
		}
		if got := m.GetCounter().GetValue(); got != want {
			t.Errorf("%v objects count as expired, want %v", got, want)
		}
	}
	m.beaten = string(key)
	if err := e.remove(t.Context(), m.tree.Get(key), deadline); err != nil || m.tree.Get(key) == nil {
		t.Fatalf("when another client was first: %v, %v", m.tree.Get(key), err)
	}
	counts(0)
	if err := e.remove(t.Context(), m.tree.Get(key), deadline); err != nil || m.tree.Get(key) != nil {
		t.Errorf("at its deadline: %v, %v", m.tree.Get(key), err)
	}
	counts(1)
}

// TestExpireByAge_covers_later_events checks that a leader also expires events that are created
// after it began to lead.
func TestExpireByAge_covers_later_events(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, l := newMemory(t)
		l.eventTTL = time.Minute
		k := m.catalog.Stored("events")
		ctx, cancel := context.WithCancel(t.Context())
		var working sync.WaitGroup
		working.Go(func() {
			if err := l.expireByAge(ctx, k); err != nil {
				t.Error(err)
			}
		})
		there := func(name string) bool {
			root, err := m.View(ctx, raftstore.Cached())
			return err == nil && root.Get(stored.Key(k, "ns", name)) != nil
		}
		for _, name := range []string{"first", "second"} {
			m.make(t, "events", "ns", name)
			time.Sleep(30 * time.Second)
			if !there(name) {
				t.Errorf("the %s event has gone early", name)
			}
			time.Sleep(time.Minute)
			if there(name) {
				t.Errorf("the %s event has not gone", name)
			}
		}
		cancel()
		working.Wait()
	})
}
