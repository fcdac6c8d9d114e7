package apiserver_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// mixedStream is one watch of a mixture.
type mixedStream struct {
	resource  string
	path      string
	token     string // "" for the administrator's
	namespace string // "" for all
	name      string // "" for all
	matches   func(o *mixedObject) bool
	from      uint64
	initial   bool // begins with the objects that are there, and a bookmark
	as        mixedForm

	expect []mixedEvent
	read   sync.WaitGroup
	mu     sync.Mutex
	got    []mixedEvent
	err    error
}

// mixedForm is how a stream shows objects.
type mixedForm struct {
	name, accept string
	binary       bool
	kind         string // of what is sent; "" for the object's own
	row          string // of a Table, what it includes
}

const asMeta = ";v=v1;g=meta.k8s.io"

var mixedForms = []mixedForm{
	{name: "JSON", accept: "application/json"},
	{name: "protobuf", accept: "application/vnd.platform.protobuf", binary: true},
	{name: "Table", accept: "application/json;as=Table" + asMeta, kind: "Table", row: "Metadata"},
	{name: "Table of cells", accept: "application/json;as=Table" + asMeta, kind: "Table", row: "None"},
	{name: "Table of objects", accept: "application/json;as=Table" + asMeta, kind: "Table", row: "Object"},
	{name: "metadata", accept: "application/json;as=PartialObjectMetadata" + asMeta, kind: "PartialObjectMetadata"},
	{name: "metadata in protobuf", accept: "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata" + asMeta, binary: true, kind: "PartialObjectMetadata"},
}

// mixedSelectors are queries, and what they mean. Those of fields are of events only.
var mixedSelectors = []struct {
	query   string
	events  bool
	matches func(o *mixedObject) bool
}{
	{"", false, func(*mixedObject) bool { return true }},
	{"labelSelector=l%3Dx", false, func(o *mixedObject) bool { return o.label == "x" }},
	{"labelSelector=l+in+(x,y)", false, func(o *mixedObject) bool { return o.label == "x" || o.label == "y" }},
	{"labelSelector=l!%3Dx", false, func(o *mixedObject) bool { return o.label != "x" }},
	{"labelSelector=!l", false, func(o *mixedObject) bool { return o.label == "" }},
	{"fieldSelector=metadata.namespace%3Da", false, func(o *mixedObject) bool { return o.namespace == "a" }},
	{"fieldSelector=metadata.name!%3Dn1", false, func(o *mixedObject) bool { return o.name != "n1" }},
	{"fieldSelector=reason%3Dx", true, func(o *mixedObject) bool { return o.reason == "x" }},
	{"fieldSelector=reason!%3Dx&labelSelector=l%3Dy", true, func(o *mixedObject) bool { return o.reason != "x" && o.label == "y" }},
}

// shape draws a watch.
func (m *mixture) shape(random *rand.Rand) *mixedStream {
	k := mixedKinds[max(0, random.IntN(len(mixedKinds)+2)-2)] // mostly the first, so that many have much in common
	st := &mixedStream{resource: k.resource, as: mixedForms[max(0, random.IntN(2*len(mixedForms))-len(mixedForms))], from: m.starts[random.IntN(len(m.starts))]}
	if random.IntN(2) == 0 {
		st.namespace = mixedNamespaces()[random.IntN(3)]
	}
	if st.namespace == "a" && random.IntN(2) == 0 {
		st.token = m.jane
	}
	selector := mixedSelectors[max(0, random.IntN(2*len(mixedSelectors))-len(mixedSelectors))]
	if selector.events && k.name != "events" {
		selector = mixedSelectors[0]
	}
	st.matches = selector.matches
	query := []string{"resourceVersion=" + fmt.Sprint(st.from), selector.query}
	if random.IntN(5) == 0 {
		st.name = fmt.Sprint("n", random.IntN(mixtureNames))
	}
	served := k.served[random.IntN(len(k.served))]
	old := random.IntN(3) == 0 // the /watch/ paths
	if old {
		st.path = served + "/watch"
	} else {
		st.path, query = served, append(query, "watch=true")
	}
	if st.namespace != "" {
		st.path += "/namespaces/" + st.namespace
	}
	st.path += "/" + k.name
	switch {
	case st.name == "":
	case old && st.namespace != "" && !strings.HasPrefix(selector.query, "fieldSelector"):
		st.path += "/" + st.name
	case !strings.HasPrefix(selector.query, "fieldSelector"):
		query = append(query, "fieldSelector=metadata.name%3D"+st.name)
	default:
		st.name = ""
	}
	switch {
	case random.IntN(6) == 0:
		st.initial = true
		query[0] = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
	case random.IntN(3) == 0:
		query = append(query, "allowWatchBookmarks=true")
	}
	if st.as.row != "" {
		query = append(query, "includeObject="+st.as.row)
	}
	st.path += "?" + strings.Join(query, "&")
	return st
}

// open opens so many streams on each connection.
func (m *mixture) open(count int) {
	m.t.Helper()
	var opened sync.WaitGroup
	for _, client := range m.clients {
		for range count {
			st := m.shape(m.random)
			m.streams = append(m.streams, st)
			opened.Go(func() { st.open(m, client) })
		}
	}
	opened.Wait()
	if m.t.Failed() {
		m.t.FailNow()
	}
}

func (st *mixedStream) open(m *mixture, client *http.Client) {
	headers := []string{"Accept: " + st.as.accept}
	if st.token != "" {
		headers = append(headers, "Authorization: Bearer "+st.token)
	}
	resp, err := client.Do(m.s.Request("GET", st.path, "", headers...))
	if err != nil {
		m.t.Errorf("%s: %v", st.path, err)
		return
	}
	if resp.StatusCode != 200 {
		body, _ := io.ReadAll(resp.Body) // the code says enough
		resp.Body.Close()
		m.t.Errorf("%s: code %d: %s", st.path, resp.StatusCode, body)
		return
	}
	if resp.ProtoMajor != 2 {
		m.t.Errorf("%s: %s", st.path, resp.Proto)
	}
	st.read.Go(func() {
		defer resp.Body.Close()
		err := readMixed(resp.Body, st.as, func(e mixedEvent) {
			st.mu.Lock()
			defer st.mu.Unlock()
			st.got = append(st.got, e)
		})
		st.mu.Lock()
		defer st.mu.Unlock()
		st.err = err
	})
}

// complete reports whether the stream has received all it is to, or something else.
func (st *mixedStream) complete() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	got := st.events()
	return len(got) >= len(st.expect) || st.difference(got) >= 0 || st.err != nil
}

// events are the events received but for bookmarks. mu is held.
func (st *mixedStream) events() []mixedEvent {
	var events []mixedEvent
	for _, e := range st.got {
		if e.word != "BOOKMARK" {
			events = append(events, e)
		}
	}
	return events
}

// difference is the place of the first event that is not the expected one, -1 if there is none.
func (st *mixedStream) difference(got []mixedEvent) int {
	for i, e := range got {
		if i >= len(st.expect) || !st.same(e, st.expect[i]) {
			return i
		}
	}
	return -1
}

// same compares an event with an expected one, as far as the form shows it.
func (st *mixedStream) same(got, want mixedEvent) bool {
	got.columns = false // see verify
	if st.as.row == "None" {
		if want.namespace, want.n = "", ""; st.resource == "events" {
			got.name, want.name = "", "" // no cell names an Event
		}
	}
	return got == want
}

// verify reports what the stream received wrongly. It is called after the stream has ended.
func (st *mixedStream) verify(t *testing.T) {
	t.Helper()
	who := fmt.Sprintf("%s as %s", st.path, st.as.name)
	if st.err != nil && st.err != context.Canceled {
		t.Errorf("%s: %v", who, st.err)
	}
	got := st.events()
	if i := st.difference(got); i >= 0 || len(got) < len(st.expect) {
		if i < 0 {
			i = len(got)
		}
		t.Errorf("%s: event %d of %d differs:\n got %+v\nwant %+v", who, i, len(st.expect), window(got, i), window(st.expect, i))
		return
	}
	last := uint64(0)
	for i, e := range st.got {
		if e.columns != (st.as.kind == "Table" && i == 0) {
			t.Errorf("%s: frame %d has column definitions: %v", who, i, e.columns)
		}
		if !st.initial && e.version < last || e.word == "BOOKMARK" && e.version < st.from {
			t.Errorf("%s: %+v after version %d, from %d", who, e, last, st.from)
		}
		last = e.version
	}
}

// window is what stands around a place.
func window(events []mixedEvent, i int) []mixedEvent {
	return events[max(0, min(len(events), i)-1):min(len(events), i+3)]
}
