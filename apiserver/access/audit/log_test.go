package audit_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/access/audit"
	"quorate/apiserver/access/auth"
	"quorate/apiserver/wire/status"
)

var update = flag.Bool("update", false, "rewrite the golden file")

func newLog(t *testing.T, rules string) (*audit.Log, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	return audit.New(audit.Config{
		Policy: parse(t, rules), Sinks: []io.Writer{&out}, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	}), &out
}

func received(method, target string, a auth.Attributes) audit.Received {
	r := httptest.NewRequest(method, target, nil)
	r.Header.Set("User-Agent", "kubectl/v1.37")
	return audit.Received{
		ID: "4f2c-1", HTTP: r, Attributes: a, At: time.Date(2026, 11, 23, 4, 5, 6, 7000, time.UTC),
		User: &auth.User{Name: "alice", UID: "u1", Groups: []string{"dev", "system:authenticated"}},
	}
}

var stageTime = regexp.MustCompile(`"stageTimestamp":"[^"]*"`)

// TestGoldenEvents: the events of one request at each level, of an impersonated one, of a refusal
// and of a panic.
func TestGoldenEvents(t *testing.T) {
	t.Parallel()
	pod := auth.Attributes{Verb: "create", Version: "v1", Resource: "pods", Namespace: "prod"}
	secret := auth.Attributes{Verb: "patch", Version: "v1", Resource: "secrets", Namespace: "prod", Name: "s"}
	var got bytes.Buffer
	for _, level := range []string{"None", "Metadata", "Request", "RequestResponse"} {
		log, out := newLog(t, "rules: [{level: "+level+"}]")
		for _, a := range []auth.Attributes{pod, secret} {
			trail := log.Begin(received(http.MethodPost, "/api/v1/namespaces/prod/"+a.Resource+"?dryRun=All", a))
			if trail == nil {
				continue
			}
			trail.Emit(audit.RequestReceived, audit.Outcome{Namespace: "prod"})
			if r := trail.Recording(); r != nil {
				r.KeepRequest([]byte("{\"kind\": \"Pod\",\n \"data\": \"sent\"}"))
				r.KeepResponse([]byte(`{"kind":"Pod","data":"returned"}`))
			}
			trail.Emit(audit.ResponseComplete, audit.Outcome{Namespace: "prod", Name: "web", Decided: true, Allowed: true, Code: 201})
		}
		got.Write(out.Bytes())
	}
	log, out := newLog(t, "rules: [{level: Metadata}]")
	r := received(http.MethodGet, "/apis/apps/v1/deployments?watch=1", auth.Attributes{Verb: "watch", Group: "apps", Version: "v1", Resource: "deployments"})
	trail := log.Begin(r)
	as := &auth.User{Name: "bob", Groups: []string{"ops"}, Extra: map[string][]string{"scopes": {"a", "b"}, "reason": {"test"}}}
	trail.Emit(audit.ResponseStarted, audit.Outcome{Impersonated: as, Decided: true, Allowed: true, Code: 200})
	trail.Emit(audit.Panic, audit.Outcome{Code: 500, Failure: &status.Status{Status: "Failure", Message: "a panic", Reason: "InternalError"}})
	stranger := received(http.MethodGet, "/metrics", auth.Attributes{Verb: "get", Path: "/metrics"})
	stranger.User = nil
	log.Begin(stranger).Emit(audit.ResponseComplete, audit.Outcome{Code: 401, Failure: &status.Status{Status: "Failure", Message: "Unauthorized", Reason: "Unauthorized"}})
	denied := log.Begin(received(http.MethodGet, "/api/v1/namespaces/prod/secrets/s", secret))
	denied.Emit(audit.ResponseComplete, audit.Outcome{Decided: true, Code: 403, Failure: &status.Status{Status: "Failure", Message: "quotes topsecret", Reason: "Forbidden"}})
	got.Write(out.Bytes())

	text := stageTime.ReplaceAll(got.Bytes(), []byte(`"stageTimestamp":"STAGE"`))
	for line := range strings.Lines(string(text)) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
	if strings.Contains(string(text), "topsecret") {
		t.Error("a refusal about a Secret quotes it")
	}
	const golden = "testdata/events.jsonl"
	if *update {
		if err := os.WriteFile(golden, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(text, want) {
		t.Errorf("%v\n%s\nwant\n%s", err, text, want)
	}
}

// TestEventsAreBounded: whatever is sent, an event has a bounded size, is one line, and says what
// it lacks.
func TestEventsAreBounded(t *testing.T) {
	t.Parallel()
	log, out := newLog(t, "rules: [{level: RequestResponse}]")
	long := strings.Repeat("x\n", 100<<10)
	r := received(http.MethodPost, "/x", auth.Attributes{Verb: "create", Resource: "pods"})
	r.HTTP.RequestURI, r.Attributes.Verb, r.Attributes.Name = long, long, long
	r.HTTP.Header.Set("User-Agent", long)
	u := &auth.User{Name: long, UID: long, Extra: map[string][]string{}}
	for range 1000 {
		u.Groups = append(u.Groups, long)
		u.Extra[long[:1000+len(u.Groups)]] = []string{long, long}
	}
	r.User = u
	trail := log.Begin(r)
	big, err := json.Marshal(map[string]string{"a": long})
	if err != nil {
		t.Fatal(err)
	}
	trail.Recording().KeepRequest(big)
	trail.Recording().KeepResponse(big)
	trail.Emit(audit.ResponseComplete, audit.Outcome{
		Impersonated: u, Namespace: long, Name: long, Failure: &status.Status{Status: "Failure", Message: long}, Code: 500,
	})
	if out.Len() > 64<<10 || strings.Count(out.String(), "\n") != 1 || !json.Valid(out.Bytes()) {
		t.Errorf("an event of %d bytes", out.Len())
	}
	for _, part := range []string{`"audit.k8s.io/truncated":"true"`, `"audit.platform.io/request-object-bytes":"307208"`, `"audit.platform.io/response-object-bytes":"307208"`} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("no %s", part)
		}
	}
	if strings.Contains(out.String(), `"requestObject"`) {
		t.Error("a body beyond the bound is recorded")
	}
}

// TestTrailKeepsNoLongURI: the trail of a watch, which lasts as long as the watch, does not keep a
// URI that is longer than what it records of it, although the name is a part of it.
func TestTrailKeepsNoLongURI(t *testing.T) {
	t.Parallel()
	log, out := newLog(t, "rules: [{level: Metadata}]")
	text := []byte("/api/v1/namespaces/prod/pods/one?watch=1&junk=" + strings.Repeat("j", 60_000))
	kept := weak.Make(&text[0])
	uri := unsafe.String(&text[0], len(text))
	r := received(http.MethodGet, "/", auth.Attributes{Verb: "watch", Version: "v1", Resource: "pods", Namespace: uri[19:23], Name: uri[29:32]})
	r.HTTP.RequestURI = uri
	trail := log.Begin(r)
	r.HTTP.RequestURI = "" // as a watch that has begun does
	runtime.GC()
	if kept.Value() != nil {
		t.Error("the trail keeps the URI")
	}
	trail.Emit(audit.ResponseComplete, audit.Outcome{Namespace: "prod", Code: 200})
	if !strings.Contains(out.String(), `"objectRef":{"resource":"pods","namespace":"prod","name":"one"`) {
		t.Errorf("recorded: %.300s", out)
	}
}

// TestStrangersAreRateLimited: requests that need no credentials cannot displace those of users.
func TestStrangersAreRateLimited(t *testing.T) {
	t.Parallel()
	log, _ := newLog(t, "rules: [{level: Metadata}]")
	r := received(http.MethodGet, "/x", auth.Attributes{Verb: "get", Path: "/x"})
	r.User = nil
	recorded := 0
	for range 5000 {
		if log.Begin(r) != nil {
			recorded++
		}
	}
	if recorded < 200 || recorded > 1000 {
		t.Errorf("%d of 5000 are recorded", recorded)
	}
	r.User = &auth.User{Name: "alice"}
	if log.Begin(r) == nil {
		t.Error("a user is not recorded")
	}
}

// BenchmarkMetadata measures the two events of a request.
func BenchmarkMetadata(b *testing.B) {
	p, err := audit.ParsePolicy([]byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]"))
	if err != nil {
		b.Fatal(err)
	}
	log := audit.New(audit.Config{
		Policy: p, Sinks: []io.Writer{io.Discard}, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	r := received(http.MethodGet, "/api/v1/namespaces/prod/pods/web", auth.Attributes{Verb: "get", Version: "v1", Resource: "pods", Namespace: "prod", Name: "web"})
	b.ReportAllocs()
	for b.Loop() {
		trail := log.Begin(r)
		o := audit.Outcome{Namespace: "prod", Name: "web", Decided: true, Allowed: true}
		trail.Emit(audit.RequestReceived, o)
		o.Code = 200
		trail.Emit(audit.ResponseComplete, o)
	}
}
