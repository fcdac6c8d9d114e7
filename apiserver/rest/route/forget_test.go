package route

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"
	"weak"

	"quorate/apiserver/access/auth"
)

// TestForget: a call that forgets its request keeps what the log of requests needs, and no more.
func TestForget(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("GET", "/api/v1/pods?labelSelector=a", nil)
	r.Header.Set("User-Agent", strings.Repeat("u", 10_000))
	r.Header.Set("Authorization", "Bearer secret")
	c := &Call{R: r, Services: &Services{}}
	if !c.Query().Has("labelSelector") {
		t.Fatal("the query is not there")
	}
	c.Forget()
	if c.Query().Has("labelSelector") || c.R.URL.RawQuery != "" || c.R.RequestURI != "" || c.temporary().query != nil {
		t.Errorf("kept of the query: %q, %q", c.R.URL, c.R.RequestURI)
	}
	if c.R.URL.Path != "/api/v1/pods" || len(c.R.Header) != 1 || len(c.R.Header.Get("User-Agent")) != maxKeptBytes {
		t.Errorf("kept: path %q, header %q", c.R.URL.Path, c.R.Header)
	}
}

// TestForgetsItsURI: nothing that a call keeps refers to a long query, although the parts of the
// path, and over HTTP/1 the method and the protocol, are parts of the same line.
func TestForgetsItsURI(t *testing.T) {
	t.Parallel()
	line := "GET /api/v1/namespaces/space/pods/name?labelSelector=" + strings.Repeat("a", 10_000) + " HTTP/1.1"
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(line + "\r\nHost: h\r\n\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	kept := weak.Make(unsafe.StringData(r.RequestURI))
	c := &Call{R: r, Services: &Services{}, Namespace: r.RequestURI[19:24], Name: r.RequestURI[30:34]}
	c.temporary().attributes = auth.Attributes{Namespace: c.Namespace, Name: c.Name}
	c.Forget()
	runtime.GC()
	if kept.Value() != nil {
		t.Error("the call keeps the line of the request")
	}
	if c.R.URL.Path != "/api/v1/namespaces/space/pods/name" || c.Namespace != "space" || c.Name != "name" {
		t.Errorf("kept: path %q, namespace %q, name %q", c.R.URL.Path, c.Namespace, c.Name)
	}
}

// TestForgottenHeadersAreTheirOwn checks that calls share a header only if they would keep the
// same, with values that are empty, change places, or differ only after what is kept of them.
func TestForgottenHeadersAreTheirOwn(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("u", maxKeptBytes)
	agents := []string{"", "a", "b", "a,b", long, long + "1", long + "2"}
	var kept KeptHeaders
	var calls sync.WaitGroup
	for i := range 4 * maxKeptHeaders {
		calls.Go(func() {
			agent, forwarded := agents[i%len(agents)], agents[i/len(agents)%len(agents)]
			if i%5 == 0 { // more than are shared
				forwarded = fmt.Sprint(i)
			}
			h := http.Header{"Accept": {"x"}}
			want := http.Header{}
			for name, value := range map[string]string{"User-Agent": agent, "X-Forwarded-For": forwarded} {
				if value != "" {
					h.Set(name, value)
					want.Set(name, value[:min(len(value), maxKeptBytes)])
				}
			}
			if got := kept.of(h); !reflect.DeepEqual(got, want) {
				t.Errorf("%q and %q: kept %q", agent, forwarded, got)
			}
		})
	}
	calls.Wait()
	first, second := kept.of(http.Header{"User-Agent": {"a"}}), kept.of(http.Header{"User-Agent": {"a"}, "Accept": {"y"}})
	if reflect.ValueOf(first).Pointer() != reflect.ValueOf(second).Pointer() {
		t.Error("equal headers are not shared")
	}
	if n := len(kept.all); n > maxKeptHeaders {
		t.Errorf("%d headers are shared", n)
	}
}
