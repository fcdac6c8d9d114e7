package lifecycle

import (
	"fmt"
	"testing"
	"time"

	kindfiles "quorate/apiserver/kinds"
	"quorate/apiserver/rules"
	"quorate/apiserver/schema"
	"quorate/apiserver/stored"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

func catalogOf(t *testing.T) *schema.Catalog {
	t.Helper()
	catalog, err := schema.Load(kindfiles.Files, rules.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

// TestExpiry_knows_each_once: what is remembered is bounded by the pods that are going, not by how often they are written, or
// made anew (G13).
func TestExpiry_knows_each_once(t *testing.T) {
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
