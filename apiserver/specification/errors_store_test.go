package specification

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quorate/apiserver"
	"quorate/apiserver/internal/testserver"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// failureRows: what a store that fails, or is slow, is answered with.
var failureRows = []row{
	{"I13", func(t *testing.T, s *testserver.Server) {
		f := failing(t, s, apiserver.Limits{Writes: 1})
		first := f.hold("i13")
		a := f.post("second")
		st := refusal(t, a, 429, "TooManyRequests")
		if st.Details == nil || st.Details.RetryAfterSeconds != 1 || a.Header.Get("Retry-After") != "1" {
			t.Errorf("%v %s", a.Header, a.Body)
		}
		ok(t, first())
		for i := range 3 { // refused requests leave the bound as it is
			held := f.hold(fmt.Sprintf("i13-%d", i))
			for range 3 {
				expect(t, f.post("refused"), 429, "TooManyRequests")
			}
			ok(t, held())
		}
	}},
	{"I28", func(t *testing.T, s *testserver.Server) {
		f := failing(t, s, apiserver.Limits{Writes: 1, Reads: 1})
		first := f.hold("i28")
		expect(t, f.post("second"), 429, "TooManyRequests")
		// Reads have a bound of their own, and watches none of these.
		ok(t, f.server.Do("GET", "/api/v1/namespaces/default", ""))
		w := watch(t, f.server, collection("ConfigMap", "default")+"?watch=true&fieldSelector=metadata.name%3Di28")
		// It needs a seat until it has started, which is a little after its header.
		f.server.Eventually("the watch has left its seat", func() bool {
			return f.server.Summed("quorate_apiserver_fairness_seats_in_use") == 1 // the create's
		})
		ok(t, f.server.Do("GET", "/api/v1/namespaces/default", ""))
		ok(t, first())
		w.want("ADDED i28")
	}},
	{"I14", func(t *testing.T, s *testserver.Server) {
		f := failing(t, s, apiserver.Limits{})
		a := f.postInto(errors.New("odd"))
		st := refusal(t, a, 500, "InternalError")
		if !strings.HasPrefix(st.Message, "Internal error occurred: ") || len(st.Details.Causes) != 1 || st.Details.Causes[0].Message == "" {
			t.Error(a.Body)
		}
		if a.Header.Get("Retry-After") != "" {
			t.Errorf("Retry-After: %v", a.Header)
		}
	}},
	{"I15 I16 I20", func(t *testing.T, s *testserver.Server) {
		// I15: where Kubernetes answers ServerTimeout, this is ServiceUnavailable.
		f := failing(t, s, apiserver.Limits{})
		for _, err := range []error{raftstore.ErrUnavailable, raftstore.ErrClosed} {
			a := f.postInto(err)
			st := refusal(t, a, 503, "ServiceUnavailable")
			if st.Details == nil || st.Details.RetryAfterSeconds < 1 || a.Header.Get("Retry-After") == "" {
				t.Errorf("%v %s", a.Header, a.Body)
			}
		}
	}},
	{"I16", func(t *testing.T, s *testserver.Server) {
		// With the disks full, what lets go of an object goes on: its deletion, and each of its
		// finalizers.
		ns := namespace(t, s)
		create(t, s, "ConfigMap", ns, "held", `{"metadata":{"finalizers":["row.io/a","row.io/b"]}}`)
		create(t, s, "ConfigMap", ns, "kept")
		full := testserver.StartOn(t, s.Store, func(cfg *apiserver.Config) {
			quiet(cfg)
			cfg.Store = fullStore{s.Store}
		})
		patch := func(name, body string) testserver.Answer {
			return full.Do("PATCH", item("ConfigMap", ns, name), body, "Content-Type: application/merge-patch+json")
		}
		expect(t, patch("kept", `{"data":{"k":"new"}}`), 507, "InsufficientStorage")
		ok(t, full.Do("DELETE", item("ConfigMap", ns, "held"), ""))
		want(t, ok(t, patch("held", `{"metadata":{"finalizers":["row.io/b"]}}`)), "metadata.finalizers", `["row.io/b"]`)
		ok(t, patch("held", `{"metadata":{"finalizers":null}}`))
		expect(t, full.Do("GET", item("ConfigMap", ns, "held"), ""), 404, "NotFound")
	}},
	{"I17 I21 I22", func(t *testing.T, s *testserver.Server) {
		f := failing(t, s, apiserver.Limits{})
		a := f.postInto(raftstore.ErrUnknownOutcome)
		st := refusal(t, a, 504, "Timeout")
		if st.Message != "request did not complete within the allotted timeout; the write may still be applied" {
			t.Error(a.Body)
		}
		if a.Header.Get("Retry-After") != "" || st.Details != nil && st.Details.RetryAfterSeconds != 0 {
			t.Errorf("a hint to repeat a write of unknown outcome: %v %s", a.Header, a.Body)
		}
		// A read may be repeated.
		a = s.Do("GET", "/api/v1/nodes?timeout=10ms&resourceVersion=9999999999", "")
		if refusal(t, a, 504, "Timeout"); a.Header.Get("Retry-After") != "1" {
			t.Errorf("%v %s", a.Header, a.Body)
		}
	}},
	{"I24", func(t *testing.T, s *testserver.Server) {
		f := failing(t, s, apiserver.Limits{})
		begun := time.Now()
		ok(t, f.post("timed"))
		if d := time.Unix(0, f.deadline.Load()); d.After(begun.Add(35*time.Second)) || d.Before(begun) {
			t.Errorf("a write has until %s, begun %s", d, begun)
		}
		ok(t, f.server.Do("GET", item("ConfigMap", "default", "timed"), ""))
		if d := time.Unix(0, f.readDeadline.Load()); d.After(begun.Add(61*time.Second)) || d.Before(begun) {
			t.Errorf("a read has until %s, begun %s", d, begun)
		}
		f.held.Store(&held{entered: make(chan struct{}), leave: make(chan struct{})})
		a := f.server.Do("POST", collection("ConfigMap", "default")+"?timeout=50ms", `{"metadata":{"name":"short"}}`)
		refusal(t, a, 504, "Timeout")
		if a.Header.Get("Retry-After") != "" {
			t.Errorf("%v", a.Header)
		}
		expect(t, f.server.Do("GET", item("ConfigMap", "default", "timed")+"?timeout=soon", ""), 400, "BadRequest", "timeout")
	}},
	{"I27", func(t *testing.T, s *testserver.Server) {
		f := failing(t, s, apiserver.Limits{})
		client := f.server.NewHTTP1Client()
		f.panics.Store(true)
		a, err := f.server.Try(client, "POST", collection("ConfigMap", "default"), `{"metadata":{"name":"panics"}}`)
		if err != nil {
			t.Fatal(err)
		}
		if st := refusal(t, a, 500, "InternalError"); strings.Contains(st.Message, "boom") || !strings.Contains(st.Message, "panic") {
			t.Error(a.Body)
		}
		reused := false
		req := f.server.Request("GET", "/api/v1/namespaces/default", "")
		resp, err := client.Do(req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
			GotConn: func(info httptrace.GotConnInfo) { reused = info.Reused },
		})))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 200 || !reused {
			t.Errorf("after a panic: %s, connection reused: %v", resp.Status, reused)
		}
	}},
	{"I29", func(t *testing.T, _ *testserver.Server) {
		s := testserver.Start(t, quiet)
		ns := namespace(t, s)
		for _, name := range []string{"a", "b", "c"} {
			create(t, s, "ConfigMap", ns, name, `{"data":{"k":"`+strings.Repeat("v", 100<<10)+`"}}`)
		}
		brokenObject(t, s, ns, "d")
		for _, client := range []*http.Client{s.Client, s.NewHTTP1Client()} {
			resp, err := client.Do(s.Request("GET", collection("ConfigMap", ns), "", "Accept: application/yaml"))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err == nil || resp.StatusCode != 200 || strings.Contains(string(body), "kind: Status") {
				t.Errorf("%s: %d bytes, ended with %v", resp.Status, len(body), err)
			}
		}
	}},
}

// quiet keeps errors that a row provokes from failing the server's test.
func quiet(cfg *apiserver.Config) { cfg.Logger = slog.New(slog.DiscardHandler) }

// fullStore is a store whose disks have no space left: it takes deletions, and updates that free
// space.
type fullStore struct{ *raftstore.Store }

func (s fullStore) Create(context.Context, raftstore.Create) (*state.Object, error) {
	return nil, &raftstore.FullError{Nodes: []string{"n0"}}
}

func (s fullStore) Update(ctx context.Context, u raftstore.Update) (*state.Object, error) {
	if !u.Frees {
		return nil, &raftstore.FullError{Nodes: []string{"n0"}}
	}
	return s.Store.Update(ctx, u)
}

// failures is a store whose creates do what a row wants, behind a server of its own.
type failures struct {
	*raftstore.Store
	t      *testing.T
	server *testserver.Server

	held                   atomic.Pointer[held]
	err                    atomic.Pointer[error]
	panics                 atomic.Bool
	deadline, readDeadline atomic.Int64 // of the last create and the last read, nanoseconds of Unix time
}

// held is a create that waits.
type held struct{ entered, leave chan struct{} }

func failing(t *testing.T, s *testserver.Server, limits apiserver.Limits) *failures {
	t.Helper()
	f := &failures{Store: s.Store, t: t}
	f.server = testserver.StartOn(t, s.Store, func(cfg *apiserver.Config) {
		quiet(cfg)
		testserver.WithoutQueues(cfg)
		cfg.Store, cfg.Limits = f, limits
	})
	return f
}

func (f *failures) Create(ctx context.Context, c raftstore.Create) (*state.Object, error) {
	if d, bounded := ctx.Deadline(); bounded {
		f.deadline.Store(d.UnixNano())
	}
	if f.panics.Swap(false) {
		panic("boom")
	}
	if err := f.err.Swap(nil); err != nil {
		return nil, *err
	}
	if h := f.held.Swap(nil); h != nil {
		close(h.entered)
		select {
		case <-h.leave:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return f.Store.Create(ctx, c)
}

func (f *failures) View(ctx context.Context, r raftstore.Read) (*state.Root, error) {
	if d, bounded := ctx.Deadline(); bounded {
		f.readDeadline.Store(d.UnixNano())
	}
	return f.Store.View(ctx, r)
}

func (f *failures) post(name string) testserver.Answer {
	f.t.Helper()
	return f.server.Do("POST", collection("ConfigMap", "default"), `{"metadata":{"name":"`+name+`"}}`)
}

// postInto creates something in a store that answers with err.
func (f *failures) postInto(err error) testserver.Answer {
	f.t.Helper()
	f.err.Store(&err)
	return f.post("fails")
}

// hold begins a create that is under way until its answer is asked for.
func (f *failures) hold(name string) (answer func() testserver.Answer) {
	f.t.Helper()
	h := &held{entered: make(chan struct{}), leave: make(chan struct{})}
	f.held.Store(h)
	answers := make(chan testserver.Answer, 1)
	go func() {
		a, err := f.server.Try(f.server.Client, "POST", collection("ConfigMap", "default"), `{"metadata":{"name":"`+name+`"}}`)
		if err != nil {
			a.Body = err.Error()
		}
		answers <- a
	}()
	select {
	case <-h.entered:
	case a := <-answers:
		f.t.Fatalf("answered before it was held: %d %s", a.Code, a.Body)
	}
	return func() testserver.Answer {
		close(h.leave)
		return <-answers
	}
}
