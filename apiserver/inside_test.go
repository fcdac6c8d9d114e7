package apiserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"quorate/apiserver/access/audit"
	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/fairness"
	"quorate/apiserver/access/rbac"
	"quorate/apiserver/access/requestlog"
	"quorate/apiserver/kinds"
	"quorate/apiserver/limit"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
)

// bareHandler is a handler with one route of its own, and a token for it.
func bareHandler(t *testing.T, e *route.Endpoint) (f *handler, token string, log *bytes.Buffer) {
	t.Helper()
	reg := prometheus.NewRegistry()
	log = &bytes.Buffer{}
	logger := slog.New(slog.NewTextHandler(log, nil))
	key := []byte("key")
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	access, err := rbac.New(rbac.Config{Catalog: catalog, Logger: logger, Registerer: reg})
	if err != nil {
		t.Fatal(err)
	}
	f, err = newHandler(Config{
		SigningKey: key, Registerer: reg, Logger: logger, RequestLogger: slog.New(slog.DiscardHandler),
		RequestPolicy: requestlog.None, Limits: Limits{Reads: 1}.withDefaults(),
		Levels: []fairness.Level{{Name: "all", Share: 1, MaxWait: time.Second}},
	}, access)
	if err != nil {
		t.Fatal(err)
	}
	series := route.NewMetrics(reg)
	f.unrouted = series.Series("none", "none")
	e.Series = series.Series(e.Verb, "none")
	f.table.Add(http.MethodGet, "/x", e)
	token, err = auth.NewIssuer(key).Issue(auth.Identity{Name: "a", Groups: []string{auth.MastersGroup}}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return f, token, log
}

// valueOf reads a counter.
func valueOf(t *testing.T, c prometheus.Counter) float64 {
	t.Helper()
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue()
}

func get(t *testing.T, s *httptest.Server, token string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := s.Client().Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

// sent returns what a GET is answered with.
func sent(t *testing.T, f *handler, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

func TestHandlerFailures(t *testing.T) {
	t.Parallel()
	t.Run("I27 a panic is answered with 500 and counted", func(t *testing.T) {
		t.Parallel()
		f, token, log := bareHandler(t, &route.Endpoint{Verb: "get", Serve: func(*route.Call) error { panic("boom") }})
		policy, err := audit.ParsePolicy([]byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]"))
		if err != nil {
			t.Fatal(err)
		}
		var events bytes.Buffer
		f.audit = audit.New(audit.Config{
			Policy: policy, Sinks: []io.Writer{&events}, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
		})
		s := httptest.NewServer(f)
		defer s.Close()
		resp, body, err := get(t, s, token)
		if err != nil || resp.StatusCode != 500 || !strings.Contains(body, `"reason":"InternalError"`) || strings.Contains(body, "boom") {
			t.Errorf("%v %s", err, body)
		}
		if text := events.String(); !strings.Contains(text, `"stage":"RequestReceived"`) || !strings.Contains(text, `"stage":"Panic"`) ||
			!strings.Contains(text, `"code":500`) || strings.Contains(text, `"stage":"ResponseComplete"`) {
			t.Errorf("events: %s", text)
		}
		if n := valueOf(t, f.metrics.panics); n != 1 || !strings.Contains(log.String(), "boom") {
			t.Errorf("%v panics: %s", n, log)
		}
	})
	t.Run("I14 an unforeseen error is answered with 500, logged and counted", func(t *testing.T) {
		t.Parallel()
		f, token, log := bareHandler(t, &route.Endpoint{Verb: "get", Serve: func(*route.Call) error { return errors.New("odd") }})
		s := httptest.NewServer(f)
		defer s.Close()
		resp, body, err := get(t, s, token)
		if err != nil || resp.StatusCode != 500 || !strings.Contains(body, "Internal error occurred: odd") {
			t.Errorf("%v %s", err, body)
		}
		if n := valueOf(t, f.metrics.unmapped); n != 1 || !strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("%v unmapped: %s", n, log)
		}
	})
	t.Run("I29 an error after the beginning breaks the answer off", func(t *testing.T) {
		t.Parallel()
		f, token, _ := bareHandler(t, &route.Endpoint{Verb: "get", Serve: func(c *route.Call) error {
			c.W.WriteHeader(200)
			_, _ = c.W.Write([]byte("half"))
			return status.NewTimeout()
		}})
		s := httptest.NewServer(f)
		defer s.Close()
		if _, body, err := get(t, s, token); err == nil {
			t.Errorf("a whole answer: %s", body)
		}
	})
	t.Run("J37 what is allowed is not known before the roles are", func(t *testing.T) {
		t.Parallel()
		f, _, _ := bareHandler(t, &route.Endpoint{Verb: "get", Serve: func(*route.Call) error { return nil }})
		s := httptest.NewServer(f)
		defer s.Close()
		plain, err := auth.NewIssuer([]byte("key")).Issue(auth.Identity{Name: "a"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		resp, body, err := get(t, s, plain)
		if err != nil || resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
			t.Errorf("%v %s", err, body)
		}
	})
	t.Run("J12 nor before is it of whom somebody acts as", func(t *testing.T) {
		t.Parallel()
		f, token, _ := bareHandler(t, &route.Endpoint{Verb: "get", Serve: func(*route.Call) error { return nil }})
		if got := sent(t, f, "/x", "Authorization: Bearer "+token, "Impersonate-User: jane"); got.Code != 503 {
			t.Errorf("%d %s", got.Code, got.Body)
		}
		masters := sent(t, f, "/x", "Authorization: Bearer "+token, "Impersonate-User: jane", "Impersonate-Group: "+auth.MastersGroup)
		if masters.Code != 200 {
			t.Errorf("%d %s", masters.Code, masters.Body)
		}
	})
	t.Run("what passes is a 429 for watches, and for nothing else", func(t *testing.T) {
		t.Parallel()
		f, _, _ := bareHandler(t, &route.Endpoint{Verb: "get", Serve: func(*route.Call) error { return nil }})
		plain, err := auth.NewIssuer([]byte("key")).Issue(auth.Identity{Name: "a"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		for path, code := range map[string]int{
			"/api/v1/pods?watch=1": 429, "/api/v1/watch/pods": 429, "/apis/apps/v1/watch/namespaces/n/statefulsets": 429,
			"/oapi/v1/watch/images": 429, "/api/v1/pods": 503, "/api/v1/pods?watch=0": 503, "/api/v1/namespaces/watch/pods": 503,
			"/apis/watch/v1/pods": 503, "/apis/apps/v1/namespaces/watch/statefulsets": 503,
		} {
			if got := sent(t, f, path, "Authorization: Bearer "+plain); got.Code != code {
				t.Errorf("%s: %d, want %d", path, got.Code, code)
			}
		}
	})
	t.Run("a failure has no headers of the answer that it takes the place of", func(t *testing.T) {
		t.Parallel()
		f, token, _ := bareHandler(t, &route.Endpoint{Verb: "get", Serve: func(c *route.Call) error {
			c.Unchanged(`"tag"`)
			c.W.Header().Set("Cache-Control", "public, immutable")
			c.W.Header().Set("Expires", "Thu, 01 Jan 2099 00:00:00 GMT")
			return status.NewBadRequest("odd")
		}})
		got := sent(t, f, "/x", "Authorization: Bearer "+token).Result().Header
		if got.Get("Cache-Control") != "no-cache, private" || got.Get("Expires") != "" || got.Get("Etag") != "" {
			t.Errorf("%v", got)
		}
	})
	t.Run("I13 I28 requests over the bound get 429", func(t *testing.T) {
		t.Parallel()
		entered, leave := make(chan struct{}), make(chan struct{})
		f, token, _ := bareHandler(t, &route.Endpoint{Verb: "get", Serve: func(*route.Call) error {
			close(entered)
			<-leave
			return nil
		}})
		s := httptest.NewServer(f)
		defer s.Close()
		first := make(chan error, 1)
		go func() {
			_, _, err := get(t, s, token)
			first <- err
		}()
		<-entered
		resp, body, err := get(t, s, token)
		if err != nil || resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "1" {
			t.Errorf("%v %s", err, body)
		}
		close(leave)
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

func TestStuckConnection(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	c := guard(nil, Limits{Connections: 1}, newMetrics(prometheus.NewRegistry()))
	conn := &guarded{Conn: ours, all: c}
	c.add(conn)
	failed := make(chan error, 1)
	go func() {
		_, err := conn.Write([]byte("nobody reads this"))
		failed <- err
	}()
	for conn.writing.Load() == 0 {
		runtime.Gosched()
	}
	c.closeStuck(stuckAfter) // one tick too early
	select {
	case err := <-failed:
		t.Fatalf("closed too early: %v", err)
	default:
	}
	c.closeStuck(1 + stuckAfter)
	if err := <-failed; err == nil {
		t.Error("the write went on")
	}
	if n := c.count(); n != 0 {
		t.Errorf("%d connections left", n)
	}
}

// TestErrorsThatReachBounds: errors of the store count as bounds, requests that their client has
// given up do not.
func TestErrorsThatReachBounds(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want limit.Name
	}{
		"deadline":  {fmt.Errorf("read: %w", context.DeadlineExceeded), limit.RequestTime},
		"timeout":   {raftstore.ErrTimeout, limit.RequestTime},
		"entry":     {fmt.Errorf("write: %w", raftstore.ErrTooLarge), limit.EntrySize},
		"marked":    {fmt.Errorf("read: %w", limit.Reached(limit.Nesting, io.EOF)), limit.Nesting},
		"client":    {context.Canceled, ""},
		"not found": {status.NewNoRoute(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMetrics(prometheus.NewRegistry())
			m.countLimit(tc.err)
			for bound, counter := range m.reached {
				var got dto.Metric
				if err := counter.Write(&got); err != nil {
					t.Fatal(err)
				}
				if counted := got.GetCounter().GetValue() == 1; counted != (bound == tc.want) {
					t.Errorf("%s is counted: %t", bound, counted)
				}
			}
		})
	}
}
