package specification

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quorate/apiserver"
	"quorate/apiserver/internal/testserver"
	"quorate/raftstore/testcluster"
)

// replicaRow is a row that is about several nodes.
type replicaRow struct {
	id  string
	run func(t *testing.T, r *replicas)
}

// consistencyRows run on one cluster, in order.
var consistencyRows = []replicaRow{
	{"N18", func(t *testing.T, r *replicas) {
		for i := range r.Nodes {
			if list := ok(t, r.node(i).Do("GET", "/api/v1/nodes", "")); len(names(t, list)) != 0 {
				t.Errorf("members show as nodes: %s", list)
			}
		}
	}},
	{"A28 N15", func(t *testing.T, r *replicas) {
		ns := namespace(t, r.node(0))
		for i := range 3 {
			made := ok(t, r.node(i).Do("POST", collection("ConfigMap", ns), `{"metadata":{"generateName":"a28-"}}`))
			path := item("ConfigMap", ns, get(t, made, "metadata.name")) + "?resourceVersion=" + get(t, made, "metadata.resourceVersion")
			for j := range r.Nodes {
				if got := ok(t, r.node(j).Do("GET", path, "")); got != made {
					t.Errorf("node %d has %s, want %s", j, got, made)
				}
			}
			soon(t, get(t, made, "metadata.creationTimestamp"))
		}
	}},
	{"N1", func(t *testing.T, r *replicas) {
		ns := namespace(t, r.node(0))
		last := uint64(0)
		for i, kind := range []string{"ConfigMap", "Pod", "Node", "Role", "ClusterRole", "Image", "StatefulSet"} {
			o := create(t, r.node(i), kind, ns, "n1")
			if v := version(t, o); v <= last || strings.HasPrefix(get(t, o, "metadata.resourceVersion"), "0") {
				t.Errorf("%s at %d after %d", kind, v, last)
			}
			last = version(t, o)
			if v := version(t, ok(t, r.node(i+1).Do("GET", collection(kind, ns), ""))); v < last {
				t.Errorf("a list at %d after a write at %d", v, last)
			}
		}
		if applied := r.Leader().Store.Applied(); last > applied {
			t.Errorf("version %d, and the log is applied up to %d", last, applied)
		}
	}},
	{"N3 N4", func(t *testing.T, r *replicas) {
		ns := namespace(t, r.node(0))
		for i := range 9 {
			client := *r.node(i).Client
			client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			name := fmt.Sprintf("n3-%d", i)
			a, err := r.node(i).Try(&client, "POST", collection("ConfigMap", ns), minimal("ConfigMap", ns, name))
			if err != nil {
				t.Fatal(err)
			}
			made := ok(t, a)
			if got := ok(t, r.node(i/3).Do("GET", item("ConfigMap", ns, name), "")); got != made {
				t.Errorf("read %s, want %s", got, made)
			}
			if list := ok(t, r.node(i+1).Do("GET", collection("ConfigMap", ns), "")); !slices.Contains(names(t, list), name) {
				t.Errorf("no %s in %s", name, list)
			}
		}
	}},
	{"N5", func(t *testing.T, r *replicas) {
		ns := namespace(t, r.node(0))
		follower, leader := r.follower()
		for i := range 10 {
			name := fmt.Sprintf("n5-%d", i)
			made := create(t, r.on(follower), "ConfigMap", ns, name)
			if got := ok(t, r.on(follower).Do("GET", item("ConfigMap", ns, name)+"?resourceVersion=0", "")); got != made {
				t.Errorf("the follower that wrote %s reads %s", made, got)
			}
			if got := ok(t, r.on(leader).Do("GET", item("ConfigMap", ns, name), "")); got != made {
				t.Errorf("the leader has %s, the follower answered %s", got, made)
			}
		}
	}},
	{"N8", func(t *testing.T, r *replicas) {
		ns := namespace(t, r.node(0))
		create(t, r.node(0), "ConfigMap", ns, "n8")
		from := get(t, ok(t, r.node(0).Do("GET", collection("ConfigMap", ns), "")), "metadata.resourceVersion")
		var written []string
		for i := range 20 {
			body := minimal("ConfigMap", ns, "n8", fmt.Sprintf(`{"data":{"i":"%d"}}`, i))
			written = append(written, ok(t, r.node(i).Do("PUT", item("ConfigMap", ns, "n8"), body)))
		}
		for i := range r.Nodes {
			w := watch(t, r.node(i), collection("ConfigMap", ns)+"?watch=true&resourceVersion="+from)
			for _, o := range written {
				if got := w.want("MODIFIED n8"); got != o {
					t.Errorf("node %d shows %s, want %s", i, got, o)
				}
			}
			w.close()
		}
	}},
	{"N9 N10", func(t *testing.T, r *replicas) {
		ns := namespace(t, r.node(0))
		create(t, r.node(0), "ConfigMap", ns, "before")
		list := ok(t, r.node(1).Do("GET", collection("ConfigMap", ns), ""))
		made := create(t, r.node(0), "ConfigMap", ns, "after")
		w := watch(t, r.node(2), collection("ConfigMap", ns)+"?watch=true&resourceVersion="+get(t, list, "metadata.resourceVersion"))
		if got := w.want("ADDED after"); got != made {
			t.Errorf("event %s, answer %s", got, made)
		}
		ok(t, r.node(1).Do("DELETE", item("ConfigMap", ns, "before"), ""))
		w.want("DELETED before")
	}},
	{"N11", func(t *testing.T, r *replicas) {
		ns := namespace(t, r.node(0))
		for i := range 5 {
			codes := make([]int, len(r.Nodes))
			var writers sync.WaitGroup
			for j := range r.Nodes {
				s := r.node(j)
				writers.Go(func() {
					if a, err := s.Try(s.Client, "POST", collection("ConfigMap", ns), minimal("ConfigMap", ns, fmt.Sprintf("n11-%d", i))); err == nil {
						codes[j] = a.Code
					}
				})
			}
			writers.Wait()
			if slices.Sort(codes); !slices.Equal(codes, []int{200, 409, 409}) {
				t.Errorf("codes %v", codes)
			}
		}
	}},
	{"J38", func(t *testing.T, r *replicas) {
		follower, leader := r.follower()
		file := filepath.Join(t.TempDir(), "tokens")
		if err := os.WriteFile(file, []byte("only-here,jane,u1,\"system:masters\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s := testserver.StartOn(t, follower.Store, func(cfg *apiserver.Config) {
			quiet(cfg)
			cfg.TokenFile = file
		})
		const credentials = "Authorization: Bearer only-here"
		expect(t, r.on(leader).Do("POST", "/api/v1/nodes", minimal("Node", "", "j38"), credentials), 401, "Unauthorized")
		ok(t, s.Do("POST", "/api/v1/nodes", minimal("Node", "", "j38"), credentials))
		ok(t, r.on(leader).Do("GET", "/api/v1/nodes/j38", ""))
	}},
	{"N6 N7 J37", func(t *testing.T, r *replicas) {
		ns := namespace(t, r.node(0))
		follower, leader := r.follower()
		s := r.on(follower)
		before := create(t, s, "ConfigMap", ns, "n7")
		w := watch(t, s, collection("ConfigMap", ns)+"?watch=true&resourceVersion="+get(t, before, "metadata.resourceVersion"))
		r.cutOff(follower, func() {
			one := item("ConfigMap", ns, "n7")
			testcluster.Eventually(t, "requests no longer wait for an election", func() bool {
				return s.Do("GET", one, "").Header.Get("Retry-After") == ""
			})
			start := time.Now()
			for _, a := range atOnce(s, [][3]string{
				{"POST", collection("ConfigMap", ns), minimal("ConfigMap", ns, "lost")}, {"PUT", one, minimal("ConfigMap", ns, "n7")},
				{"DELETE", one}, {"GET", one}, {"GET", collection("ConfigMap", ns)},
			}) {
				st := refusal(t, a, 503, "ServiceUnavailable")
				if a.Header.Get("Retry-After") != "" || !strings.Contains(st.Message, "2 of 3 voters do not respond: "+r.others(follower)) {
					t.Errorf("%v %s", a.Header, st.Message)
				}
			}
			if took := time.Since(start); took > 500*time.Millisecond {
				t.Errorf("the refusals took %s", took)
			}
			if got := ok(t, s.Do("GET", item("ConfigMap", ns, "n7")+"?resourceVersion=0", "")); got != before {
				t.Errorf("a cached read has %s", got)
			}
			// J37: authorization comes before what would be forwarded, and needs nobody else.
			expect(t, s.Do("POST", "/api/v1/nodes", minimal("Node", "", "n7"), "Authorization: Bearer "+s.IssueToken("jane")), 403, "Forbidden")
			ok(t, s.Do("GET", "/livez", ""))
			if a := s.Do("GET", "/readyz", ""); a.Code == 200 {
				t.Error("ready in a minority")
			}
			// The majority goes on.
			create(t, r.on(leader), "ConfigMap", ns, "meanwhile")
		})
		w.want("ADDED meanwhile")
		expect(t, s.Do("GET", item("ConfigMap", ns, "lost"), ""), 404, "NotFound")
	}},
	{"I23", func(t *testing.T, r *replicas) {
		ns := namespace(t, r.node(0))
		follower, leader := r.follower()
		r.Isolate(leader, true)
		// The follower still considers the old leader to be the leader, but cannot reach it. Within
		// the request's time it must find the next leader and complete the write, or answer that
		// the write was not applied (I23). If the connection broke after the follower had sent the
		// write, it must answer that the outcome is unknown (I22).
		a := r.on(follower).Do("POST", collection("ConfigMap", ns), minimal("ConfigMap", ns, "i23"))
		r.Isolate(leader, false)
		r.Ready()
		found := r.on(leader).Do("GET", item("ConfigMap", ns, "i23"), "")
		if a.Code == 200 {
			if found.Body != a.Body {
				t.Errorf("the old leader has %s, want %s", found.Body, a.Body)
			}
			return
		}
		if a.Code == 504 {
			if refusal(t, a, 504, "Timeout"); a.Header.Get("Retry-After") != "" {
				t.Errorf("Retry-After: %v", a.Header)
			}
			return
		}
		if refusal(t, a, 503, "ServiceUnavailable"); a.Header.Get("Retry-After") == "" {
			t.Errorf("no Retry-After: %v", a.Header)
		}
		expect(t, found, 404, "NotFound")
	}},
	{"N17", func(t *testing.T, r *replicas) {
		ns := namespace(t, r.node(0))
		set := create(t, r.node(0), "HostSubnet", "", "n17")
		w := watch(t, r.node(0), watchPath("HostSubnet", "")+"/n17?resourceVersion="+get(t, set, "metadata.resourceVersion"))
		_, leader := r.follower()
		acknowledged := map[string]bool{}
		for i := range 30 {
			if i == 10 {
				r.Isolate(leader, true)
			}
			if i == 20 {
				r.Isolate(leader, false)
			}
			// Each adds one more address to what is there, so that one done twice would show.
			ip := fmt.Sprintf("192.0.2.%d", i)
			op := `[{"op":"add","path":"/egressIPs/-","value":"` + ip + `"}]`
			if i == 0 {
				op = `[{"op":"add","path":"/egressIPs","value":["` + ip + `"]}]`
			}
			s := r.on(r.Follower(leader))
			a, err := s.Try(s.Client, "PATCH", item("HostSubnet", "", "n17"), op, "Content-Type: application/json-patch+json")
			if err == nil && a.Code == 200 {
				acknowledged[ip] = true
			} else if a.Code != 503 && a.Code != 504 {
				t.Errorf("%v %d %s", err, a.Code, a.Body)
			}
		}
		r.Ready()
		final := ok(t, r.node(0).Do("GET", item("HostSubnet", "", "n17"), ""))
		count := map[string]int{}
		for _, ip := range value(t, final, "egressIPs").([]any) {
			count[ip.(string)]++
		}
		for ip, n := range count {
			if n > 1 {
				t.Errorf("%s was added %d times", ip, n)
			}
		}
		for ip := range acknowledged {
			if count[ip] != 1 {
				t.Errorf("%s was acknowledged and is there %d times", ip, count[ip])
			}
		}
		for range len(count) {
			w.want("MODIFIED n17")
		}
		create(t, r.node(0), "ConfigMap", ns, "n17")
	}},
	{"N2 N13", func(t *testing.T, r *replicas) {
		ns := namespace(t, r.node(0))
		_, leader := r.follower()
		made := create(t, r.on(leader), "ConfigMap", ns, "n2")
		var after string
		r.restart(leader, func() {
			other := r.on(r.Leader())
			if got := ok(t, other.Do("GET", item("ConfigMap", ns, "n2"), "")); got != made {
				t.Errorf("after the leader's end: %s, want %s", got, made)
			}
			after = create(t, other, "ConfigMap", ns, "n13")
		})
		if version(t, after) <= version(t, made) {
			t.Errorf("version %d after %d", version(t, after), version(t, made))
		}
		s := r.on(leader)
		if got := ok(t, s.Do("GET", item("ConfigMap", ns, "n2")+"?resourceVersion="+get(t, after, "metadata.resourceVersion"), "")); got != made {
			t.Errorf("after the restart: %s, want %s", got, made)
		}
		w := watch(t, s, collection("ConfigMap", ns)+"?watch=true&resourceVersion="+get(t, made, "metadata.resourceVersion"))
		w.want("ADDED n13")
		if again := create(t, s, "ConfigMap", ns, "n13-again"); version(t, again) <= version(t, after) {
			t.Errorf("version %d after %d", version(t, again), version(t, after))
		}
	}},
}

// atOnce sends requests, given by method, path and body, together: each may take some time.
func atOnce(s *testserver.Server, requests [][3]string) []testserver.Answer {
	answers := make([]testserver.Answer, len(requests))
	var all sync.WaitGroup
	for i, r := range requests {
		all.Go(func() {
			a, err := s.Try(s.Client, r[0], r[1], r[2])
			if err != nil {
				a.Body = err.Error()
			}
			answers[i] = a
		})
	}
	all.Wait()
	return answers
}

// replicated runs a chapter's rows on a cluster.
func replicated(t *testing.T, rows []replicaRow) {
	t.Helper()
	r := startReplicas(t)
	for _, row := range rows {
		t.Run(row.id, func(t *testing.T) { row.run(t, r) })
		if t.Failed() {
			healed(r)
		}
	}
}

// healed lets no row suffer from one that failed before it.
func healed(r *replicas) {
	for _, n := range r.Nodes {
		r.Isolate(n, false)
	}
	testcluster.Eventually(r.t, "all nodes are ready", func() bool {
		return !slices.ContainsFunc(r.Running(), func(n *testcluster.Node) bool { return n.Store.Ready() != nil })
	})
}
