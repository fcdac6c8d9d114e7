package apiserver_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// gauge returns a metric of a server, summed over its series.
func gauge(t *testing.T, s *testserver.Server, name string) float64 {
	t.Helper()
	var sum float64
	for line := range strings.Lines(s.Do("GET", "/metrics", "").Body) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if series == name || strings.HasPrefix(series, name+"{") {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += n
		}
	}
	return sum
}

// TestStreamsOfAConnectionShareADispatcher checks that the streams of an HTTP/2 connection join a
// fan-out, whatever writers wrap their responses, that a stream over HTTP/1.1 does not, and that
// each HTTP/2 stream receives the same events (D1, D38).
func TestStreamsOfAConnectionShareADispatcher(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	cms := namespace(t, s, "fan-out")
	after := version(t, s.Do("POST", cms, labelled("first", "x")).Body)
	idle := gauge(t, s, "quorate_apiserver_watch_idle") // streams of the server itself
	const count = 20
	streams := make([]*stream, count)
	for i := range streams {
		streams[i] = open(t, s, fmt.Sprintf("%s?watch=1&resourceVersion=%s", cms, after))
	}
	alone := s.NewHTTP1Client()
	resp, err := alone.Do(s.Request("GET", cms+"?watch=1&resourceVersion="+after, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer alone.CloseIdleConnections()
	defer resp.Body.Close()
	s.Eventually("idle streams", func() bool { return gauge(t, s, "quorate_apiserver_watch_idle") == idle+count })
	created := s.Do("POST", cms, labelled("m", "x")).Body
	changed := s.Do("PUT", cms+"/m", labelled("m", "y")).Body
	for i, w := range streams {
		if got := w.want("ADDED m"); got != created {
			t.Errorf("stream %d got %s", i, got)
		}
		if got := w.want("MODIFIED m"); got != changed {
			t.Errorf("stream %d got %s", i, got)
		}
		w.cancel()
	}
}
