package apiserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// stream is an open watch.
type stream struct {
	t      *testing.T
	resp   *http.Response
	lines  *bufio.Reader
	cancel context.CancelFunc
}

func open(t *testing.T, s *testserver.Server, path string, headers ...string) *stream {
	t.Helper()
	req := s.Request("GET", path, "", headers...)
	ctx, cancel := context.WithCancel(req.Context())
	resp, err := s.Client.Do(req.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		resp.Body.Close()
	})
	if resp.StatusCode != 200 {
		body, _ := io.ReadAll(resp.Body)
		t.Fatalf("code %d: %s", resp.StatusCode, body)
	}
	return &stream{t, resp, bufio.NewReader(resp.Body), cancel}
}

// next returns the next event as "TYPE name", and its object; "EOF" at the end.
func (w *stream) next() (event, object string) {
	w.t.Helper()
	line, err := w.lines.ReadString('\n')
	if errors.Is(err, io.EOF) && line == "" {
		return "EOF", ""
	}
	if err != nil {
		w.t.Fatal(err)
	}
	var e struct {
		Type   string
		Object json.RawMessage
	}
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		w.t.Fatalf("%v: %s", err, line)
	}
	return strings.TrimSpace(e.Type + " " + field(w.t, string(e.Object), "metadata.name")), string(e.Object)
}

func (w *stream) want(events ...string) (object string) {
	w.t.Helper()
	for _, event := range events {
		var got string
		if got, object = w.next(); got != event {
			w.t.Fatalf("got %q, want %q: %s", got, event, object)
		}
	}
	return object
}

func version(t *testing.T, object string) string {
	t.Helper()
	return field(t, object, "metadata.resourceVersion")
}

func labelled(name, label string) string {
	return `{"metadata":{"name":"` + name + `","labels":{"l":"` + label + `"}}}`
}

func TestWatch(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	// watched returns a namespace's collection with one object, and the position after it.
	watched := func(t *testing.T, ns string) (cms, after string) {
		cms = namespace(t, s, ns)
		return cms, version(t, s.Do("POST", cms, labelled("first", "x")).Body)
	}
	t.Run("D1 D2 D4 D6 D9 D20 changes after a version", func(t *testing.T) {
		t.Parallel()
		cms, after := watched(t, "d9")
		w := open(t, s, cms+"?watch=1&resourceVersion="+after)
		if ct := w.resp.Header.Get("Content-Type"); ct != "application/json;stream=watch" {
			t.Errorf("Content-Type %s", ct)
		}
		created := s.Do("POST", cms, labelled("m", "x")).Body
		if got := w.want("ADDED m"); got != created {
			t.Errorf("got %s, want %s", got, created)
		}
		s.Do("PUT", cms+"/m", labelled("m", "y"))
		changed := w.want("MODIFIED m")
		s.Do("DELETE", cms+"/m", "")
		if gone := w.want("DELETED m"); version(t, gone) <= version(t, changed) && len(version(t, gone)) <= len(version(t, changed)) {
			t.Errorf("D20: deleted at %s after %s", version(t, gone), version(t, changed))
		}
	})
	t.Run("D10 from the beginning", func(t *testing.T) {
		t.Parallel()
		cms, _ := watched(t, "d10")
		s.Do("PUT", cms+"/first", labelled("first", "y"))
		s.Do("DELETE", cms+"/first", "")
		open(t, s, cms+"?watch=true").want("ADDED first", "MODIFIED first", "DELETED first")
	})
	t.Run("D11 present objects at version 0", func(t *testing.T) {
		t.Parallel()
		cms, _ := watched(t, "d11")
		s.Do("PUT", cms+"/first", labelled("first", "y"))
		w := open(t, s, cms+"?watch=true&resourceVersion=0")
		w.want("ADDED first")
		s.Do("POST", cms, labelled("second", "x"))
		w.want("ADDED second")
	})
	t.Run("D19 objects enter and leave a selector", func(t *testing.T) {
		t.Parallel()
		cms, after := watched(t, "d19")
		w := open(t, s, cms+"?watch=true&labelSelector=l%3Dx&resourceVersion="+after)
		s.Do("POST", cms, labelled("m", "y"))
		s.Do("PUT", cms+"/m", labelled("m", "x"))
		w.want("ADDED m")
		s.Do("PUT", cms+"/m", `{"metadata":{"name":"m","labels":{"l":"x"}},"data":{"k":"v"}}`)
		w.want("MODIFIED m")
		left := s.Do("PUT", cms+"/m", labelled("m", "y")).Body
		object := w.want("DELETED m")
		if version(t, object) != version(t, left) || !strings.Contains(object, `"l":"x"`) || !strings.Contains(object, `"k":"v"`) {
			t.Errorf("D19: left with %s", object)
		}
		s.Do("DELETE", cms+"/m", "")
		s.Do("DELETE", cms+"/first", "")
		w.want("DELETED first")
	})
	t.Run("D25 D28 bookmark before the end", func(t *testing.T) {
		t.Parallel()
		cms, after := watched(t, "d25")
		w := open(t, s, cms+"?watch=true&allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion="+after)
		mark := w.want("BOOKMARK")
		if !strings.HasPrefix(mark, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"`) {
			t.Errorf("bookmark %s", mark)
		}
		w.want("BOOKMARK", "EOF")
	})
	t.Run("D26 initial events", func(t *testing.T) {
		t.Parallel()
		cms, _ := watched(t, "d26")
		w := open(t, s, cms+"?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")
		if mark := w.want("ADDED first", "BOOKMARK"); !strings.Contains(mark, `"annotations":{"k8s.io/initial-events-end":"true"}`) {
			t.Errorf("bookmark %s", mark)
		}
	})
	t.Run("D31 D32 D33 watch paths", func(t *testing.T) {
		t.Parallel()
		cms, _ := watched(t, "d31")
		s.Do("POST", cms, labelled("second", "x"))
		open(t, s, "/api/v1/watch/namespaces/d31/configmaps/second?resourceVersion=0").want("ADDED second")
		open(t, s, "/api/v1/watch/namespaces/d31/configmaps?watch=false&resourceVersion=0").want("ADDED first", "ADDED second")
		open(t, s, "/api/v1/watch/configmaps?fieldSelector=metadata.namespace%3Dd31&resourceVersion=0").want("ADDED first", "ADDED second")
		open(t, s, "/api/v1/watch/namespaces/d31?resourceVersion=0").want("ADDED d31")
	})
	for _, tc := range []struct {
		row, path string
		headers   []string
		want      want
	}{
		{"D7 only yaml", "/api/v1/configmaps?watch=1", []string{"Accept: application/yaml"}, want{406, "NotAcceptable", "", nil}},
		{"D15 not numeric", "/api/v1/configmaps?watch=1&resourceVersion=x", nil, want{422, "Invalid", "resourceVersion", nil}},
		{"D17 continue", "/api/v1/configmaps?watch=1&continue=x", nil, want{400, "BadRequest", "continue", nil}},
		{"D18 match alone", "/api/v1/configmaps?watch=1&resourceVersionMatch=Exact", nil, want{422, "Invalid", "", []string{"FieldValueForbidden"}}},
		{"D32 contradiction", "/api/v1/watch/namespaces/a/configmaps/x?fieldSelector=metadata.name%3Dy", nil, want{400, "BadRequest", "contradicts", nil}},
		{"D36 legacy bindings by query", "/oapi/v1/clusterrolebindings?watch=true", nil, want{405, "MethodNotAllowed", `watch is not supported on resources of kind "clusterrolebindings"`, nil}},
		{"D36 legacy bindings by path", "/oapi/v1/watch/clusterrolebindings", nil, want{404, "NotFound", "", nil}},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			check(t, s.Do("GET", tc.path, "", tc.headers...), tc.want)
		})
	}
}

func TestWatchEndsOnShutdown(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	cms := namespace(t, s, "a")
	w := open(t, s, cms+"?watch=1&resourceVersion=0&allowWatchBookmarks=true")
	w.want("BOOKMARK")
	created := s.Do("POST", cms, configMap("m"))
	check(t, created, want{code: 200})
	w.want("ADDED m")
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.Stop()
	}()
	w.want("BOOKMARK", "EOF")
	<-stopped
}

func TestSharedBindings(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	const rbac, legacy = "/apis/rbac.authorization.platform.io/v1/clusterrolebindings", "/oapi/v1/clusterrolebindings"
	w := open(t, s, rbac+"?watch=1&resourceVersion="+field(t, s.Do("GET", rbac, "").Body, "metadata.resourceVersion"))
	made := s.Do("POST", legacy, `{"metadata":{"name":"b"},"roleRef":{"name":"admin"},"userNames":["jane"]}`)
	check(t, made, want{code: 200, body: []string{`"kind":"ClusterRoleBinding","apiVersion":"v1"`, `"userNames":["jane"]`}})
	if o := w.want("ADDED b"); !strings.Contains(o, `"subjects":[{"kind":"User","apiGroup":"rbac.authorization.platform.io","name":"jane"`) {
		t.Errorf("D37: %s", o)
	}
	check(t, s.Do("GET", rbac+"/b", ""), want{code: 200, body: []string{`"apiVersion":"rbac.authorization.platform.io/v1"`, field(t, made.Body, "metadata.uid")}})
	check(t, s.Do("GET", legacy, ""), want{code: 200, body: []string{`"userNames":["jane"]`}})
	check(t, s.Do("DELETE", legacy+"/b", ""), want{code: 200})
	w.want("DELETED b")
}
