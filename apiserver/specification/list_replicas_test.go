package specification

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/internal/testserver"
	"quorate/raftstore"
	"quorate/raftstore/testcluster"
)

// listReplicaRows prove of lists and watches what takes several nodes, or a node that forgets.
var listReplicaRows = []replicaRow{
	{"C34 C35", func(t *testing.T, r *replicas) {
		path, _ := some(t, r.node(0), "a", "b", "c", "d", "e", "f")
		whole := names(t, ok(t, r.node(0).Do("GET", path, "")))
		page := ok(t, r.node(0).Do("GET", asked(path, "limit", "1"), ""))
		first := get(t, page, "metadata.resourceVersion")
		got := names(t, page)
		for i := 1; get(t, page, "metadata.continue") != ""; i++ {
			ok(t, r.node(i+1).Do("DELETE", path+"/"+whole[i], ""))
			page = ok(t, r.node(i).Do("GET", asked(path, "limit", "1", "continue", get(t, page, "metadata.continue")), ""))
			want(t, page, "metadata.resourceVersion", first)
			got = append(got, names(t, page)...)
		}
		if !slices.Equal(got, whole) {
			t.Errorf("pages of all nodes have %v, want %v", got, whole)
		}
	}},
	{"C37 C21 §4.4-resourceVersion-3", func(t *testing.T, r *replicas) {
		// Without a leader, lists that need none are read in pages too, from this node's state; and
		// others ask this node for it.
		path, last := some(t, r.node(0), "a", "b", "c")
		lonely, leader := r.follower()
		s := r.on(lonely)
		ok(t, s.Do("GET", asked(path, "resourceVersion", text(last)), ""))
		var value string
		r.cutOff(lonely, func() {
			page := ok(t, s.Do("GET", asked(path, "limit", "1", "resourceVersion", "0"), ""))
			sameNames(t, page, "a")
			value = get(t, page, "metadata.continue")
			sameNames(t, ok(t, s.Do("GET", asked(path, "continue", value), "")), "b", "c")
			expect(t, s.Do("GET", asked(path, "limit", "1", "timeout", "20s"), ""), 503, "ServiceUnavailable")
		})
		sameNames(t, ok(t, r.on(leader).Do("GET", asked(path, "continue", value), "")), "b", "c")
	}},
	{"D23", func(t *testing.T, r *replicas) {
		path, last := some(t, r.node(0))
		for i := range 6 {
			create(t, r.node(i+1), "ConfigMap", strings.Split(path, "/")[4], fmt.Sprint("n", i))
			w := watch(t, r.node(i), watching(path, "resourceVersion", text(last)))
			last = version(t, w.want(fmt.Sprint("ADDED n", i)))
		}
	}},
	{"D39", func(t *testing.T, r *replicas) {
		path, last := some(t, r.node(0))
		leader := r.Leader()
		w := watch(t, r.on(leader), watching(path, "resourceVersion", text(last)))
		if err := leader.Store.TransferLeadership(""); err != nil {
			t.Fatal(err)
		}
		testcluster.Eventually(t, "another leads", func() bool { return !leader.Store.IsLeader() })
		create(t, r.on(r.Leader(leader)), "ConfigMap", strings.Split(path, "/")[4], "after")
		w.want("ADDED after")
		gone := watch(t, r.on(leader), watching(path, "resourceVersion", text(last)))
		gone.want("ADDED after")
		r.restart(leader, func() { gone.want("EOF") }) // on shutdown
	}},
}

// forgetfulRows prove what becomes of positions that a node has no log for any more.
var forgetfulRows = []row{
	{"D13 D40 D10", func(t *testing.T, _ *testserver.Server) {
		c := testcluster.New(t, 1, func(cfg *raftstore.Config) { cfg.LogBytes = 1 })
		n := c.Leader()
		s := testserver.StartOn(t, n.Store, quiet)
		path, _ := some(t, s)
		for part := range 2 { // of its log a node keeps what the snapshot before the last needs
			fill(t, s, path, part, 250)
			if _, _, err := n.Store.Snapshot(); err != nil {
				t.Fatal(err)
			}
		}
		s.Stop()
		n.Stop()
		n.Start() // its memory of history begins anew
		c.Ready()
		s = testserver.StartOn(t, n.Store, quiet)
		w := watch(t, s, watching(path, "resourceVersion", "1"))
		failed := w.want("ERROR")
		want(t, failed, "kind", "Status", "code", "410", "reason", "Expired")
		if m := get(t, failed, "message"); !strings.HasPrefix(m, "too old resource version: 1 (") {
			t.Errorf("message %q", m)
		}
		w.want("EOF")
		// From the beginning of what is kept: what was there then, and all that came after.
		seen := map[string]bool{}
		for w := watch(t, s, watching(path)); len(seen) < 500; {
			event, object := w.next()
			if seen[event] || !strings.HasPrefix(event, "ADDED ") {
				t.Fatalf("%s %s after %d events", event, object, len(seen))
			}
			seen[event] = true
		}
	}},
	{"D41", func(t *testing.T, s *testserver.Server) {
		path, last := some(t, s)
		token, err := auth.NewIssuer(signingKey()).Issue(auth.Identity{Name: "jane", Groups: []string{auth.MastersGroup}}, 8*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		jane := "Authorization: Bearer " + token
		w := watch(t, s, watching(path, "resourceVersion", text(last)), jane)
		ok(t, s.Do("POST", path, `{"metadata":{"name":"before"}}`))
		w.want("ADDED before")
		w.want("EOF")
		if code := s.Do("GET", path, "", jane).Code; code != 401 {
			t.Errorf("the watch ended while the token was valid: %d", code)
		}
	}},
}

// fill creates some hundred ConfigMaps.
func fill(t *testing.T, s *testserver.Server, path string, part, count int) {
	t.Helper()
	var all sync.WaitGroup
	for worker := range 16 {
		all.Go(func() {
			for i := worker; i < count; i += 16 {
				a, err := s.Try(s.Client, "POST", path, fmt.Sprintf(`{"metadata":{"name":"p%d-%03d"}}`, part, i))
				if err != nil || a.Code != 200 {
					t.Errorf("%d %s %v", a.Code, a.Body, err)
				}
			}
		})
	}
	all.Wait()
}
