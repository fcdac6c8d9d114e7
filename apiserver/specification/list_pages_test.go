package specification

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"quorate/apiserver/internal/testserver"
	"quorate/apiserver/rest/paging"
)

// pagesOf reads a list to its end and returns the names of each page, and the lists' versions.
func pagesOf(t *testing.T, s *testserver.Server, path string, pairs ...string) (pages [][]string, versions []string) {
	t.Helper()
	query := pairs
	for {
		page := ok(t, s.Do("GET", asked(path, query...), ""))
		pages = append(pages, names(t, page))
		versions = append(versions, get(t, page, "metadata.resourceVersion"))
		next := get(t, page, "metadata.continue")
		if next == "" {
			return pages, versions
		}
		query = append(slices.Clone(pairs), "continue", next)
	}
}

func samePages(t *testing.T, got [][]string, want string) {
	t.Helper()
	var texts []string
	for _, page := range got {
		texts = append(texts, strings.Join(page, " "))
	}
	if text := strings.Join(texts, "|"); text != want {
		t.Errorf("pages %q, want %q", text, want)
	}
}

// token makes a value of continue as a node of the server's cluster does, changed.
func token(t *testing.T, s *testserver.Server, path string, change func(p *paging.Position, q *paging.Query)) string {
	t.Helper()
	tokens, err := paging.New([]byte(strings.Repeat("k", 32))) // testserver's signing key
	if err != nil {
		t.Fatal(err)
	}
	list := ok(t, s.Do("GET", asked(path, "limit", "1"), ""))
	p := paging.Position{Index: version(t, list), After: names(t, list)[0], Began: time.Now()}
	q := paging.Query{ClusterID: s.Store.ClusterID(), Resource: "/api/v1/configmaps", Namespace: strings.Split(path, "/")[4]}
	change(&p, &q)
	return tokens.Encode(p, &q)
}

// pageRows prove limit and continue (C23, C29–C32, C34–C41, C49; rules of §4.4; §7.2, §8).
var pageRows = []row{
	{"C29 §4.4-limit §4.4-continue §4.4-limit-1 §4.4-limit-4 §8-limit", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s, "a", "b", "c", "d", "e")
		for limit, want := range map[string]string{
			"1": "a|b|c|d|e", "2": "a b|c d|e", "4": "a b c d|e", "5": "a b c d e", "6": "a b c d e", "0": "a b c d e", "": "a b c d e",
			"9223372036854775807": "a b c d e",
		} {
			pages, _ := pagesOf(t, s, path, "limit", limit)
			samePages(t, pages, want)
		}
	}},
	{"C30", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s)
		for _, limit := range []string{"-1", "x", "1.5", "9223372036854775808"} {
			expect(t, s.Do("GET", asked(path, "limit", limit), ""), 400, "BadRequest", "limit")
		}
	}},
	{"C31 §4.4-limit-2", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for i := range 9 {
			create(t, s, "ConfigMap", ns, fmt.Sprint("m", i), labelled("third", fmt.Sprint(i%3)))
		}
		pages, _ := pagesOf(t, s, collection("ConfigMap", ns), "limit", "2", "labelSelector", "third=0")
		samePages(t, pages, "m0 m3|m6")
		pages, _ = pagesOf(t, s, collection("ConfigMap", ""), "limit", "2", "fieldSelector", "metadata.namespace="+ns, "labelSelector", "third!=0")
		samePages(t, pages, "m1 m2|m4 m5|m7 m8")
		pages, _ = pagesOf(t, s, collection("ConfigMap", ns), "limit", "1", "fieldSelector", "metadata.name=m4")
		samePages(t, pages, "m4")
	}},
	{"C23 C32 Z6 §4.4-limit-3", func(t *testing.T, s *testserver.Server) {
		// A state at least that new, in pages; for 0 the limit might be ignored, and is not.
		path, last := some(t, s, "a", "b", "c")
		for _, from := range []string{"0", "1", text(last)} {
			page := ok(t, s.Do("GET", asked(path, "limit", "2", "resourceVersion", from), ""))
			sameNames(t, page, "a", "b")
			if version(t, page) < last {
				t.Errorf("version %d is before %d", version(t, page), last)
			}
			rest := ok(t, s.Do("GET", asked(path, "limit", "2", "resourceVersion", "0", "continue", get(t, page, "metadata.continue")), ""))
			sameNames(t, rest, "c")
		}
	}},
	{"C34", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s, "a", "b")
		value := get(t, ok(t, s.Do("GET", asked(path, "limit", "1"), "")), "metadata.continue")
		if value == "" || url.QueryEscape(value) != value || strings.Contains(value, "configmaps") {
			t.Errorf("continue is %q", value)
		}
		own := token(t, s, path, func(*paging.Position, *paging.Query) {})
		sameNames(t, ok(t, s.Do("GET", asked(path, "limit", "1", "continue", own), "")), "b")
	}},
	{"C35 §4.4-limit-5", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s, "a", "b", "c", "d")
		first := ok(t, s.Do("GET", asked(path, "limit", "2"), ""))
		old := get(t, ok(t, s.Do("GET", path+"/c", "")), "metadata.resourceVersion")
		ok(t, s.Do("PATCH", path+"/c", `{"data":{"k":"new"}}`, "Content-Type: application/merge-patch+json"))
		ok(t, s.Do("DELETE", path+"/d", ""))
		ok(t, s.Do("DELETE", path+"/b", "")) // where the next page begins
		ok(t, s.Do("POST", path, `{"metadata":{"name":"bb"}}`))
		ok(t, s.Do("POST", path, `{"metadata":{"name":"e"}}`))
		rest := ok(t, s.Do("GET", asked(path, "limit", "5", "continue", get(t, first, "metadata.continue")), ""))
		sameNames(t, rest, "c", "d")
		want(t, rest, "metadata.resourceVersion", get(t, first, "metadata.resourceVersion"), "items.0.metadata.resourceVersion", old,
			"items.0.data.k", "v", "metadata.continue", "")
		w := watch(t, s, asked(path, "watch", "1", "resourceVersion", get(t, rest, "metadata.resourceVersion")))
		w.want("MODIFIED c", "DELETED d", "DELETED b", "ADDED bb", "ADDED e")
	}},
	{"C36", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s, "a", "b", "c", "d", "e")
		first := ok(t, s.Do("GET", asked(path, "limit", "2"), ""))
		want(t, first, "metadata.remainingItemCount", "3")
		second := ok(t, s.Do("GET", asked(path, "limit", "2", "continue", get(t, first, "metadata.continue")), ""))
		want(t, second, "metadata.remainingItemCount", "1")
		third := ok(t, s.Do("GET", asked(path, "limit", "2", "continue", get(t, second, "metadata.continue")), ""))
		want(t, third, "metadata.remainingItemCount", "")
		for _, selector := range [][]string{
			{"labelSelector", "!x"}, {"fieldSelector", "metadata.name!=x"}, {"labelSelector", "!x", "fieldSelector", "metadata.name!=x"},
		} {
			selected := ok(t, s.Do("GET", asked(path, append(selector, "limit", "2")...), ""))
			sameNames(t, selected, "a", "b")
			want(t, selected, "metadata.remainingItemCount", "")
		}
	}},
	{"C37 §7.2 §8-continue-validity", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s, "a", "b")
		for age, good := range map[time.Duration]bool{0: true, 5 * time.Minute: true, 9 * time.Minute: true, 15 * time.Minute: false} {
			value := token(t, s, path, func(p *paging.Position, _ *paging.Query) { p.Began = p.Began.Add(-age) })
			a := s.Do("GET", asked(path, "continue", value), "")
			if good {
				sameNames(t, ok(t, a), "b")
				continue
			}
			expect(t, a, 410, "Expired", "ResourceExpired", "without it")
		}
		dropped := token(t, s, path, func(p *paging.Position, _ *paging.Query) { p.Index = 1 })
		expect(t, s.Do("GET", asked(path, "continue", dropped), ""), 410, "Expired", "ResourceExpired")
	}},
	{"C38 Z7 §4.4-limit-7", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s, "a", "b", "c")
		other, _ := some(t, s, "a", "b", "c")
		for parameter, selectors := range map[string][2]string{
			"labelSelector": {"!x", "!y"}, "fieldSelector": {"metadata.name!=x", "metadata.name!=y"},
		} {
			own := []string{"limit", "1", parameter, selectors[0]}
			value := get(t, ok(t, s.Do("GET", asked(path, own...), "")), "metadata.continue")
			with := func(path, value string, more ...string) testserver.Answer {
				return s.Do("GET", asked(path, append(append([]string{"continue", value}, own...), more...)...), "")
			}
			sameNames(t, ok(t, with(path, value)), "b")
			for what, a := range map[string]testserver.Answer{
				"nonsense":           s.Do("GET", asked(path, "continue", "x"), ""),
				"another selector":   s.Do("GET", asked(path, "continue", value, parameter, selectors[1]), ""),
				"no selector":        s.Do("GET", asked(path, "continue", value), ""),
				"another namespace":  with(other, value),
				"another collection": with(collection("Pod", ""), value),
				"initializers":       with(path, value, "includeUninitialized", "true"),
				"forged":             with(path, value[:len(value)-2]+"xx"),
			} {
				t.Run(parameter+" "+what, func(t *testing.T) { expect(t, a, 410, "Expired", "ResourceExpired") })
			}
		}
		plain := get(t, ok(t, s.Do("GET", asked(path, "limit", "1"), "")), "metadata.continue")
		for _, selector := range [][]string{{"labelSelector", "!x"}, {"fieldSelector", "metadata.name!=x"}} {
			expect(t, s.Do("GET", asked(path, append(selector, "continue", plain)...), ""), 410, "Expired", "ResourceExpired")
		}
		foreign := token(t, s, path, func(_ *paging.Position, q *paging.Query) { q.ClusterID = "other" })
		expect(t, s.Do("GET", asked(path, "continue", foreign), ""), 410, "Expired", "ResourceExpired")
	}},
	{"C39", func(t *testing.T, s *testserver.Server) {
		path, last := some(t, s, "a", "b")
		value := get(t, ok(t, s.Do("GET", asked(path, "limit", "1"), "")), "metadata.continue")
		for _, from := range []string{text(last), "x"} {
			expect(t, s.Do("GET", asked(path, "continue", value, "resourceVersion", from), ""), 400, "BadRequest",
				"specifying resource version is not allowed when using continue")
		}
		sameNames(t, ok(t, s.Do("GET", asked(path, "continue", value, "resourceVersion", "0"), "")), "b")
	}},
	{"C40", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s, "a", "b", "c", "d")
		first := ok(t, s.Do("GET", asked(path, "limit", "1"), ""))
		rest := ok(t, s.Do("GET", asked(path, "continue", get(t, first, "metadata.continue")), ""))
		sameNames(t, rest, "b", "c", "d")
		want(t, rest, "metadata.continue", "", "metadata.remainingItemCount", "")
	}},
	{"C41", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			create(t, s, k.kind, ns, nameFor(k.kind, "c41-a"))
			create(t, s, k.kind, ns, nameFor(k.kind, "c41-b"))
			whole := names(t, ok(t, s.Do("GET", collection(k.kind, ns), "")))
			pages, _ := pagesOf(t, s, collection(k.kind, ns), "limit", "1")
			if got := slices.Concat(pages...); !slices.Equal(got, whole) || len(pages) != len(whole) {
				t.Errorf("%s: pages %v, want %v", k.kind, pages, whole)
			}
		}
	}},
	{"C49", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s, "a", "b", "c")
		var continued []string
		for i := range 20 {
			continued = append(continued, get(t, ok(t, s.Do("GET", asked(path, "limit", "1"), "")), "metadata.continue"))
			ok(t, s.Do("POST", path, fmt.Sprintf(`{"metadata":{"name":"z%02d"}}`, i)))
		}
		for i, value := range continued {
			rest := names(t, ok(t, s.Do("GET", asked(path, "continue", value), "")))
			if len(rest) != 2+i {
				t.Errorf("list %d goes on with %v", i, rest)
			}
			sameNames(t, ok(t, s.Do("GET", asked(path, "limit", "1", "continue", value), "")), "b") // a value can be used again
		}
	}},
}
