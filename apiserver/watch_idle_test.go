package apiserver_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// TestIdleWatchesHaveNoGoroutines checks that the idle watches of one connection share one
// goroutine, that each of them gets its events nevertheless, in order, and that each is open, and
// counted as answered, when its client has left and not before.
func TestIdleWatchesHaveNoGoroutines(t *testing.T) {
	const (
		watches, writes = 20, 5
		answered        = `quorate_apiserver_requests_total{code="200",kind="ConfigMap",verb="watch"}`
	)
	s := testserver.Start(t, nil)
	idle, count := gauge(t, s, "quorate_apiserver_watch_idle"), gauge(t, s, "quorate_apiserver_watch_streams")
	var streams []*stream
	for range watches {
		streams = append(streams, open(t, s, "/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=0"))
	}
	for round := range writes {
		s.Eventually("the watches are idle", func() bool { return gauge(t, s, "quorate_apiserver_watch_idle") == idle+watches })
		following := 0
		for _, stack := range stacks() {
			if strings.Contains(stack, "rest/watch.(*Stream).") {
				following++
			}
		}
		if following > 1+int(idle) {
			t.Errorf("%d goroutines follow changes", following)
		}
		name := fmt.Sprint("m", round)
		s.Do(http.MethodPost, "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"`+name+`"}}`)
		for i, w := range streams {
			if event, _ := w.next(); event != "ADDED "+name {
				t.Fatalf("watch %d has %s, want %s", i, event, name)
			}
		}
	}
	before := gauge(t, s, answered)
	for i, w := range streams {
		w.cancel()
		left := count + float64(watches-1-i)
		s.Eventually("a watch has ended", func() bool { return gauge(t, s, "quorate_apiserver_watch_streams") == left })
	}
	if before != 0 {
		t.Errorf("%v open watches were counted as answered", before)
	}
	s.Eventually("all are answered", func() bool { return gauge(t, s, answered) == watches })
}

// stacks returns the stacks of all goroutines.
func stacks() []string {
	for size := 1 << 20; ; size *= 2 {
		b := make([]byte, size)
		if n := runtime.Stack(b, true); n < size {
			return strings.Split(string(b[:n]), "\n\n")
		}
	}
}
