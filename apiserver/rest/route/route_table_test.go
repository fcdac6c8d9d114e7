package route_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"quorate/apiserver/rest/route"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func table() *route.Table {
	t := route.NewTable()
	add := func(method, path string) { t.Add(method, path, &route.Endpoint{Verb: method + " " + path}) }
	add("GET", "/api/v1/nodes")
	add("POST", "/api/v1/nodes")
	add("GET", "/api/v1/nodes/:name")
	add("GET", "/api/v1/namespaces/:namespace/pods/:name")
	t.Add("GET", "/api/v1/namespaces/:namespace", &route.Endpoint{Verb: "namespace", NamesNamespace: true})
	return t
}

func find(t *route.Table, method, path string) (c *route.Call, allow string, ok bool) {
	u, err := url.ParseRequestURI(path)
	if err != nil {
		return nil, "", false
	}
	c = &route.Call{Services: &route.Services{}, R: &http.Request{Method: method, URL: u}}
	allow, ok = t.Find(c)
	return c, allow, ok
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		row, method, path      string
		ok                     bool
		namespace, name, allow string
	}{
		{"an item", "GET", "/api/v1/namespaces/a/pods/p", true, "a", "p", ""},
		{"a namespace is its own name", "GET", "/api/v1/namespaces/a", true, "", "a", ""},
		{"B35 encoded", "GET", "/api/v1/nodes/a%3Ab", true, "", "a:b", ""},
		{"B35 slash in a segment", "GET", "/api/v1/nodes/a%2Fb", true, "", "a/b", ""},
		{"B35 dots", "GET", "/api/v1/nodes/..", false, "", "", ""},
		{"B35 encoded dots", "GET", "/api/v1/nodes/%2e%2e", false, "", "", ""},
		{"B35 trailing slash", "GET", "/api/v1/nodes/", false, "", "", ""},
		{"empty segment", "GET", "/api/v1/namespaces//pods/p", false, "", "", ""},
		{"zero byte", "GET", "/api/v1/nodes/a%00b", false, "", "", ""},
		{"I5 another method", "DELETE", "/api/v1/nodes", false, "", "", "GET, POST"},
		{"B4 nothing", "GET", "/api/v1/nope", false, "", "", ""},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			c, allow, ok := find(table(), tc.method, tc.path)
			if ok != tc.ok || allow != tc.allow || ok && (c.Namespace != tc.namespace || c.Name != tc.name) {
				t.Errorf("got %v, %q, %q/%q", ok, allow, c.Namespace, c.Name)
			}
		})
	}
}

// FuzzFind: whatever the path, what is found names something, and never leads out of its segment.
func FuzzFind(f *testing.F) {
	f.Add("GET", "/api/v1/nodes/a%2Fb")
	f.Add("PUT", "/api/v1/namespaces/%2e%2e/pods/x")
	routes := table()
	f.Fuzz(func(t *testing.T, method, path string) {
		c, _, ok := find(routes, method, path)
		if !ok {
			return
		}
		for _, segment := range []string{c.Namespace, c.Name} {
			if segment == "." || segment == ".." || strings.Contains(segment, "\x00") {
				t.Errorf("%q leads to %q", path, segment)
			}
		}
	})
}
