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
