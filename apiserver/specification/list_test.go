package specification

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"quorate/apiserver"
	"quorate/apiserver/internal/testserver"
)

// asked adds parameters to a path, given as name, value, name, value, ….
func asked(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		q.Add(pairs[i], pairs[i+1])
	}
	return path + "?" + q.Encode()
}

// some creates ConfigMaps in a namespace of the row's own and returns the path of its collection,
// and the last version.
func some(t *testing.T, s *testserver.Server, names ...string) (path string, last uint64) {
	t.Helper()
	ns := namespace(t, s)
	for _, name := range names {
		last = version(t, create(t, s, "ConfigMap", ns, name))
	}
	return collection("ConfigMap", ns), last
}

// sameNames expects these items, in this order.
func sameNames(t *testing.T, list string, want ...string) {
	t.Helper()
	if got := names(t, list); !slices.Equal(got, want) {
		t.Errorf("items %v, want %v", got, want)
	}
}

// text is a number as a parameter.
func text(n uint64) string { return strconv.FormatUint(n, 10) }

// listRows prove lists and which state they are of (C1–C4, C20–C28, C33, C42–C46).
var listRows = []row{
	{"C1 C2 §4.2-namespaced-list-all §4.2-namespaced-list-in-namespace §4.2-cluster-list", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			name := nameFor(k.kind, "c1")
			create(t, s, k.kind, ns, name)
			for _, path := range slices.Compact([]string{collection(k.kind, ns), collection(k.kind, "")}) {
				list := ok(t, s.Do("GET", path, ""))
				want(t, list, "kind", k.realKind()+"List", "apiVersion", k.apiVersion(), "metadata.selfLink", path)
				version(t, list)
				if !slices.Contains(names(t, list), name) {
					t.Errorf("%s lacks %s: %s", path, name, list)
				}
				if get(t, list, "items.0.kind")+get(t, list, "items.0.apiVersion") != "" {
					t.Errorf("%s: items have kinds: %s", path, list)
				}
			}
		}
		if list := ok(t, s.Do("GET", collection("Pod", namespace(t, s)), "")); !strings.Contains(list, `"items":[]`) {
			t.Errorf("empty: %s", list)
		}
	}},
	{"C3", func(t *testing.T, s *testserver.Server) {
		ns := []string{namespace(t, s), namespace(t, s)}
		slices.Sort(ns)
		for _, name := range []string{"b", "a-1", "a.1", "a1", "a"} {
			create(t, s, "ConfigMap", ns[1], name, `{"metadata":{"labels":{"row":"c3"}}}`)
			create(t, s, "ConfigMap", ns[0], name, `{"metadata":{"labels":{"row":"c3"}}}`)
		}
		order := []string{"a", "a-1", "a.1", "a1", "b"}
		list := ok(t, s.Do("GET", asked(collection("ConfigMap", ""), "labelSelector", "row=c3"), ""))
		sameNames(t, list, slices.Concat(order, order)...)
		want(t, list, "items.0.metadata.namespace", ns[0], "items.9.metadata.namespace", ns[1])
	}},
	{"C4 D9 D22 §4.4-limit-6 §4.4-resourceVersion", func(t *testing.T, s *testserver.Server) {
		path, last := some(t, s, "a", "b")
		list := ok(t, s.Do("GET", path, ""))
		if version(t, list) < last {
			t.Errorf("the list of %d has a version of %d", version(t, list), last)
		}
		ok(t, s.Do("DELETE", path+"/a", ""))
		ok(t, s.Do("POST", path, `{"metadata":{"name":"c"}}`))
		w := watch(t, s, asked(path, "watch", "true", "resourceVersion", text(version(t, list))))
		deleted, added := w.want("DELETED a"), w.want("ADDED c")
		if version(t, deleted) <= version(t, list) || version(t, added) <= version(t, deleted) {
			t.Errorf("versions %d, %d after %d", version(t, deleted), version(t, added), version(t, list))
		}
	}},
	{"C20 C21 C22 C24 §4.4-resourceVersion-2 §4.4-resourceVersion-3 §4.4-resourceVersion-4", func(t *testing.T, s *testserver.Server) {
		path, last := some(t, s, "a", "b")
		for _, query := range [][]string{
			nil, {"resourceVersion", "0"}, {"resourceVersion", text(last)}, {"resourceVersion", "1"},
			{"resourceVersion", "0", "resourceVersionMatch", "NotOlderThan"},
			{"resourceVersion", text(last), "resourceVersionMatch", "NotOlderThan"},
		} {
			list := ok(t, s.Do("GET", asked(path, query...), ""))
			sameNames(t, list, "a", "b")
			if version(t, list) < last {
				t.Errorf("%v: version %d is before %d", query, version(t, list), last)
			}
		}
	}},
	{"§4.4-resourceVersion-2", func(t *testing.T, s *testserver.Server) {
		// The flag of this rule: without it, such a list is a cached one.
		cached := testserver.StartOn(t, s.Store, func(cfg *apiserver.Config) { cfg.QuorumRead = false })
		path, _ := some(t, s, "a", "b", "c")
		sameNames(t, ok(t, cached.Do("GET", path, "")), "a", "b", "c")
		first := ok(t, cached.Do("GET", asked(path, "limit", "2"), ""))
		// A page of one node continues on another, for which this server stands.
		sameNames(t, ok(t, s.Do("GET", asked(path, "limit", "2", "continue", get(t, first, "metadata.continue")), "")), "c")
	}},
	{"C25 C26", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s, "a", "b", "c")
		first := ok(t, s.Do("GET", asked(path, "limit", "1"), "")) // keeps its state
		then := get(t, first, "metadata.resourceVersion")
		ok(t, s.Do("DELETE", path+"/b", ""))
		exactly := func(version string, more ...string) testserver.Answer {
			return s.Do("GET", asked(path, append(more, "resourceVersion", version, "resourceVersionMatch", "Exact")...), "")
		}
		list := ok(t, exactly(then))
		sameNames(t, list, "a", "b", "c")
		want(t, list, "metadata.resourceVersion", then)
		page := ok(t, exactly(then, "limit", "2"))
		sameNames(t, page, "a", "b")
		sameNames(t, ok(t, s.Do("GET", asked(path, "continue", get(t, page, "metadata.continue")), "")), "c")
		now := ok(t, s.Do("GET", path, ""))
		sameNames(t, ok(t, exactly(get(t, now, "metadata.resourceVersion"))), "a", "c")
		expect(t, exactly("1"), 410, "Expired", "The resourceVersion for the provided list is too old.")
		// A state that nothing keeps yet is kept for the pages to come.
		then = get(t, ok(t, s.Do("GET", path, "")), "metadata.resourceVersion")
		page = ok(t, exactly(then, "limit", "1"))
		sameNames(t, page, "a")
		ok(t, s.Do("DELETE", path+"/c", ""))
		rest := ok(t, s.Do("GET", asked(path, "continue", get(t, page, "metadata.continue")), ""))
		sameNames(t, rest, "c")
		want(t, rest, "metadata.resourceVersion", then)
	}},
	{"C27", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s)
		for query, reason := range map[string]string{
			"resourceVersionMatch=Exact":                              "FieldValueForbidden",
			"resourceVersionMatch=NotOlderThan&continue=x":            "FieldValueForbidden",
			"resourceVersionMatch=Exact&resourceVersion=0":            "FieldValueForbidden",
			"resourceVersionMatch=Newest&resourceVersion=1":           "FieldValueNotSupported",
			"resourceVersionMatch=Exact&resourceVersion=5&continue=x": "FieldValueForbidden",
		} {
			a := s.Do("GET", path+"?"+query, "")
			expectInvalid(t, a, "resourceVersionMatch", reason)
			want(t, a.Body, "details.group", "meta.k8s.io", "details.kind", "ListOptions")
		}
	}},
	{"C28", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s)
		for _, version := range []string{"x", "-1", "1.5", "99999999999999999999"} {
			expect(t, s.Do("GET", asked(path, "resourceVersion", version), ""), 400, "BadRequest", "invalid resource version")
			expect(t, s.Do("GET", asked(path+"/a", "resourceVersion", version), ""), 400, "BadRequest", "invalid resource version")
		}
	}},
	{"C33", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s)
		for _, more := range [][]string{nil, {"resourceVersionMatch", "Exact"}, {"limit", "1"}} {
			a := s.Do("GET", asked(path, append(more, "resourceVersion", "999999999", "timeoutSeconds", "1")...), "")
			st := refusal(t, a, 504, "Timeout")
			if !strings.HasPrefix(st.Message, "Timeout: Too large resource version: 999999999, current: ") ||
				st.Details.RetryAfterSeconds != 1 || a.Header.Get("Retry-After") != "1" ||
				st.Details.Causes[0] != (refusedCause{"ResourceVersionTooLarge", "Too large resource version", ""}) {
				t.Errorf("%v: %s", a.Header, a.Body)
			}
		}
	}},
	{"C42 §4.4-timeoutSeconds §8-timeoutSeconds", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s, "a")
		for _, query := range [][]string{{"timeout", "1ms"}, {"timeoutSeconds", "1"}} {
			unbounded := make(chan testserver.Answer, 1) // such a list waits for 3 s
			go func() {
				a, _ := s.Try(s.Client, "GET", asked(path, "resourceVersion", "999999999"), "")
				unbounded <- a
			}()
			expect(t, s.Do("GET", asked(path, append(query, "resourceVersion", "999999999")...), ""), 504, "Timeout")
			if len(unbounded) > 0 {
				t.Errorf("%v: took as long as without", query)
			}
			expect(t, <-unbounded, 504, "Timeout")
		}
		sameNames(t, ok(t, s.Do("GET", asked(path, "timeoutSeconds", "30", "timeout", "10s", "limit", "5"), "")), "a")
	}},
	{"C43", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s)
		for _, watching := range []string{"false", "true"} {
			for _, seconds := range []string{"-1", "x", "1.5"} {
				expect(t, s.Do("GET", asked(path, "timeoutSeconds", seconds, "watch", watching), ""), 400, "BadRequest", "timeoutSeconds")
			}
		}
	}},
	{"C45 §4.4-watch", func(t *testing.T, s *testserver.Server) {
		path, last := some(t, s, "a")
		for _, yes := range []string{"true", "1"} {
			w := watch(t, s, asked(path, "watch", yes, "resourceVersion", text(last-1)))
			w.want("ADDED a")
		}
		for _, no := range []string{"false", "0"} {
			want(t, ok(t, s.Do("GET", asked(path, "watch", no), "")), "kind", "ConfigMapList")
		}
	}},
	{"C46", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s)
		expectInvalid(t, s.Do("GET", asked(path, "sendInitialEvents", "true"), ""), "sendInitialEvents", "FieldValueForbidden")
	}},
	{"C47 C48 §4.4-namespace", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s, "only-c48")
		ns := strings.Split(path, "/")[4]
		everywhere := ok(t, s.Do("GET", collection("ConfigMap", ""), ""))
		if !slices.Contains(names(t, everywhere), "only-c48") {
			t.Errorf("not in %s", everywhere)
		}
		narrowed := asked(collection("ConfigMap", ""), "fieldSelector", "metadata.namespace="+ns)
		sameNames(t, ok(t, s.Do("GET", narrowed, "")), "only-c48")
		// The permission is that of the path, whatever the selector says.
		token := "Authorization: Bearer " + s.IssueToken("c47")
		for _, denied := range []string{collection("ConfigMap", ""), narrowed} {
			expect(t, s.Do("GET", denied, "", token), 403, "Forbidden", "at the cluster scope")
		}
	}},
}

// labelled is a merge patch with labels.
func labelled(labels ...string) string {
	set := map[string]string{}
	for i := 0; i < len(labels); i += 2 {
		set[labels[i]] = labels[i+1]
	}
	b, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": set}})
	if err != nil {
		panic(fmt.Sprint(err))
	}
	return string(b)
}
