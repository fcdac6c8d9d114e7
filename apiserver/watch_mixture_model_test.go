package apiserver_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"quorate/apiserver/internal/testserver"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// mixedObject is what the model knows of an object.
type mixedObject struct {
	namespace, name, label, reason, n string
}

// mixedChange is one entry of history: an object before and after.
type mixedChange struct {
	resource      string
	version       uint64
	before, after *mixedObject // nil where there is none
	final         *mixedObject // of a deletion
}

// mixedLog is all of history, and nothing that package watch had a part in: the objects' bytes are
// read anew, and what was before a change is what the one before it left.
type mixedLog struct{ changes []mixedChange }

// mixedEvent is an event as a client receives it, or must.
type mixedEvent struct {
	word       string
	version    uint64
	apiVersion string
	kind       string
	namespace  string
	name, n    string
	columns    bool // of a Table
}

func number(t *testing.T, text string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Error(err)
	}
	return n
}

func readMixedLog(t *testing.T, s *testserver.Server) *mixedLog {
	t.Helper()
	log := &mixedLog{}
	for _, k := range mixedKinds {
		cursor, err := s.Store.Watch(state.ResourcePrefix(k.resource), 0)
		if err != nil {
			t.Fatal(err)
		}
		present, count := make(map[string]*mixedObject), 0
		for {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			events, err := cursor.Next(ctx)
			cancel()
			if errors.Is(err, context.DeadlineExceeded) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				o := modelled(t, e.Object.Value)
				key := o.namespace + "/" + o.name
				c := mixedChange{resource: k.resource, version: e.Index, before: present[key], after: o}
				if present[key] = o; e.Type == history.Deleted {
					c.after, c.final = nil, o
					delete(present, key)
				}
				log.changes = append(log.changes, c)
				count++
			}
		}
		if count < mixtureWrites {
			t.Fatalf("%d changes of %s", count, k.resource)
		}
	}
	return log
}

func modelled(t *testing.T, value []byte) *mixedObject {
	t.Helper()
	var o struct {
		Metadata struct {
			Name, Namespace     string
			Labels, Annotations map[string]string
		}
		Reason string
	}
	if err := json.Unmarshal(value, &o); err != nil {
		t.Fatal(err)
	}
	return &mixedObject{o.Metadata.Namespace, o.Metadata.Name, o.Metadata.Labels["l"], o.Reason, o.Metadata.Annotations["n"]}
}

func (log *mixedLog) has(n string, version uint64) bool {
	return slices.ContainsFunc(log.changes, func(c mixedChange) bool {
		return c.version == version && (c.after != nil && c.after.n == n || c.final != nil && c.final.n == n)
	})
}

// expect is all that a stream must receive. A stream that begins with initial events names the
// position they stand at by the bookmark behind them.
func (log *mixedLog) expect(t *testing.T, st *mixedStream) []mixedEvent {
	t.Helper()
	covers := func(o *mixedObject) bool {
		return o != nil && (st.namespace == "" || o.namespace == st.namespace) && (st.name == "" || o.name == st.name) && st.matches(o)
	}
	from := st.from
	var events []mixedEvent
	if st.initial {
		from = st.marked(t)
		events = log.initial(st, covers, from)
	}
	for _, c := range log.changes {
		if c.resource != st.resource || c.version <= from {
			continue
		}
		switch was, is := covers(c.before), covers(c.after); {
		case was && is:
			events = append(events, st.event("MODIFIED", c.version, c.after))
		case is:
			events = append(events, st.event("ADDED", c.version, c.after))
		case was && covers(c.final):
			events = append(events, st.event("DELETED", c.version, c.final))
		case was:
			events = append(events, st.event("DELETED", c.version, c.before))
		}
	}
	return events
}

// initial are the objects that a stream selects at a position, in the order of their keys.
func (log *mixedLog) initial(st *mixedStream, covers func(*mixedObject) bool, at uint64) []mixedEvent {
	present := make(map[mixedObject]mixedEvent)
	for _, c := range log.changes {
		if c.resource != st.resource || c.version > at {
			continue
		}
		o := cmp.Or(c.after, c.final)
		key := mixedObject{namespace: o.namespace, name: o.name}
		if delete(present, key); covers(c.after) {
			present[key] = st.event("ADDED", c.version, o)
		}
	}
	return slices.SortedFunc(maps.Values(present), func(a, b mixedEvent) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
	})
}

// marked waits for the bookmark that ends the initial events.
func (st *mixedStream) marked(t *testing.T) (at uint64) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		st.mu.Lock()
		i := slices.IndexFunc(st.got, func(e mixedEvent) bool { return e.word == "BOOKMARK" })
		if i >= 0 {
			at = st.got[i].version
		}
		st.mu.Unlock()
		if i >= 0 {
			return at
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: no bookmark after the initial events", st.path)
		}
		time.Sleep(time.Millisecond)
	}
}

// event is how the stream shows an object.
func (st *mixedStream) event(word string, version uint64, o *mixedObject) mixedEvent {
	e := mixedEvent{word: word, version: version, namespace: o.namespace, name: o.name, n: o.n, kind: st.as.kind, apiVersion: "meta.k8s.io/v1"}
	if e.kind == "" || st.as.row == "Object" {
		served, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(st.path, "/apis/"), "/api/"), "/namespaces/")
		served, _, _ = strings.Cut(served, "/watch")
		for _, k := range mixedKinds {
			served, _, _ = strings.Cut(served, "/"+k.name)
			if k.resource == st.resource && e.kind == "" {
				e.kind = map[string]string{"configmaps": "ConfigMap", "events": "Event", "horizontalpodautoscalers": "HorizontalPodAutoscaler"}[k.name]
			}
		}
		e.apiVersion = served
	}
	return e
}
