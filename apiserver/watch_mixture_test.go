package apiserver_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quorate/apiserver/internal/testserver"
)

// The size of a mixture: it runs for a few seconds.
const (
	mixtureConnections = 2
	mixtureStreams     = 90 // on each connection
	mixtureWriters     = 96
	mixtureWrites      = 40 // by each writer
	mixtureNames       = 8  // objects of a kind in a namespace
)

// TestWatchMixture opens watches of many shapes between rounds of concurrent writes, some of them
// from earlier versions, and compares the events of each watch with a model: the exact sequence of
// types, versions and objects, and no other event (D1, D8, D9, D19, D22, D31, D32).
func TestWatchMixture(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	m := newMixture(t, s, seed)
	m.write(mixtureWrites / 4)
	m.open(mixtureStreams / 2)
	m.write(mixtureWrites / 2)
	m.open(mixtureStreams - mixtureStreams/2)
	m.write(mixtureWrites / 4)
	m.judge()
}

// mixture is one run.
type mixture struct {
	t       *testing.T
	s       *testserver.Server
	random  *rand.Rand
	clients []*http.Client
	jane    string // token of a user who may only read namespace a
	starts  []uint64
	streams []*mixedStream
	seq     sync.Mutex
	written int
	acked   map[string]uint64 // by the number of the write, the version that it was answered with
}

// mixedKinds are the kinds written, and where each is served.
var mixedKinds = []struct {
	resource string   // as it is stored
	name     string   // its plural
	served   []string // group versions; objects of one resource differ in form
	create   string   // what an object has beside metadata
}{
	{"configmaps", "configmaps", []string{"/api/v1"}, `"data":{"k":"v"}`},
	{"events", "events", []string{"/api/v1"}, `"involvedObject":{"kind":"Pod","namespace":"%[1]s","name":"p"},"reason":"x"`},
	{"autoscaling/horizontalpodautoscalers", "horizontalpodautoscalers", []string{"/apis/autoscaling/v1", "/apis/autoscaling/v2beta1"},
		`"spec":{"scaleTargetRef":{"kind":"StatefulSet","name":"w"},"maxReplicas":3}`},
}

func mixedNamespaces() []string { return []string{"a", "b", "c"} }

func newMixture(t *testing.T, s *testserver.Server, seed uint64) *mixture {
	t.Helper()
	m := &mixture{t: t, s: s, random: rand.New(rand.NewPCG(seed, 0)), acked: make(map[string]uint64)}
	for range mixtureConnections {
		m.clients = append(m.clients, s.NewClient())
	}
	for _, ns := range mixedNamespaces() {
		namespace(t, s, ns)
	}
	m.jane = s.IssueToken("jane")
	rbac := "/apis/rbac.authorization.platform.io/v1/namespaces/a/"
	check(t, s.Do("POST", rbac+"roles", `{"metadata":{"name":"reader"},"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["get","list","watch"]}]}`), want{code: 200})
	bound := s.Do("POST", rbac+"rolebindings", `{"metadata":{"name":"reader"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.platform.io","name":"jane"}],`+
		`"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"Role","name":"reader"}}`)
	check(t, bound, want{code: 200})
	bearer := "Authorization: Bearer " + m.jane
	s.Eventually("the role binds", func() bool { return s.Do("GET", "/api/v1/namespaces/a/configmaps", "", bearer).Code == 200 })
	for _, path := range []string{"/api/v1/configmaps?watch=1", "/api/v1/watch/namespaces/b/configmaps"} {
		check(t, s.Do("GET", path, "", bearer), want{code: 403, reason: "Forbidden"})
	}
	m.starts = []uint64{m.version()}
	return m
}

// version is that of the state now.
func (m *mixture) version() uint64 {
	m.t.Helper()
	return number(m.t, version(m.t, m.s.Do("GET", "/api/v1/namespaces/a/configmaps?limit=1", "").Body))
}

// write has writers make so many changes each, concurrently, on connections of their own. Versions
// on the way become positions that later streams start from.
func (m *mixture) write(changes int) {
	m.t.Helper()
	var writers sync.WaitGroup
	for range mixtureWriters {
		client, random := m.s.NewClient(), rand.New(rand.NewPCG(m.random.Uint64(), 0))
		writers.Go(func() {
			for range changes {
				if !m.change(client, random) {
					return
				}
			}
		})
	}
	writers.Wait()
	m.starts = append(m.starts, m.version())
	for _, v := range slices.Sorted(maps.Values(m.acked)) {
		if m.random.IntN(20) == 0 {
			m.starts = append(m.starts, v)
		}
	}
}

// change makes one write; one that finds the object missing, present or changed meanwhile is
// refused, which is as good.
func (m *mixture) change(client *http.Client, random *rand.Rand) bool {
	k := mixedKinds[max(0, random.IntN(len(mixedKinds)+2)-2)]
	ns := mixedNamespaces()[random.IntN(3)]
	served := k.served[random.IntN(len(k.served))]
	name := fmt.Sprint("n", random.IntN(mixtureNames))
	collection := served + "/namespaces/" + ns + "/" + k.name
	m.seq.Lock()
	m.written++
	n := fmt.Sprint(m.written)
	m.seq.Unlock()
	label, reason := "xyz"[random.IntN(3):][:1], "xy"[random.IntN(2):][:1]
	finalizers := []string{`[]`, `["example.com/hold"]`}[random.IntN(2)]
	meta := `"metadata":{"name":"` + name + `","labels":{"l":"` + label + `"},"annotations":{"n":"` + n + `"},"finalizers":` + finalizers + `}`
	more := ""
	if k.name == "events" {
		more = `,"reason":"` + reason + `"`
	}
	var a testserver.Answer
	var err error
	switch random.IntN(6) {
	case 0, 1:
		body := k.create
		if strings.Contains(body, "%") {
			body = fmt.Sprintf(body, ns)
		}
		a, err = m.s.Try(client, "POST", collection, "{"+meta+","+body+"}")
	case 2, 3, 4:
		a, err = m.s.Try(client, "PATCH", collection+"/"+name, "{"+meta+more+"}", mergePatch)
	default:
		a, err = m.s.Try(client, "DELETE", collection+"/"+name, "")
		n = ""
	}
	switch {
	case err == nil && a.OK():
		if n != "" {
			m.seq.Lock()
			m.acked[n] = number(m.t, version(m.t, a.Body))
			m.seq.Unlock()
		}
		return true
	case err == nil && (a.Code == 404 || a.Code == 409 || a.Code == 422 && strings.Contains(a.Body, "finalizers")):
		return true
	}
	m.t.Errorf("%s: code %d, %v: %s", collection, a.Code, err, a.Body)
	return false
}

// judge waits until all streams have received what the model expects, ends them, and reports the
// first difference of each.
func (m *mixture) judge() {
	m.t.Helper()
	log := readMixedLog(m.t, m.s)
	for n, v := range m.acked {
		if !log.has(n, v) {
			m.t.Errorf("write %s was acknowledged with version %d, which history does not have", n, v)
		}
	}
	for _, st := range m.streams {
		st.expect = log.expect(m.t, st)
	}
	m.s.Eventually("all streams have received their events, or others", func() bool {
		return !slices.ContainsFunc(m.streams, func(st *mixedStream) bool { return !st.complete() })
	})
	m.s.Stop()
	events := 0
	for _, st := range m.streams {
		st.read.Wait()
		st.verify(m.t)
		events += len(st.expect)
	}
	if m.t.Failed() {
		return
	}
	if events == 0 || len(m.streams) < mixtureConnections*(mixtureStreams-1) {
		m.t.Errorf("%d events on %d streams", events, len(m.streams))
	}
	m.t.Logf("%d streams received %d events of %d in history", len(m.streams), events, len(log.changes))
}
