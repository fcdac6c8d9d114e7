package apiserver_test

import (
	"runtime"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// Idle watches over HTTP/2 have left the handler of their request, whose stack takes
// twice that of their own goroutine.
func TestIdleWatchesLeaveTheHandler(t *testing.T) {
	const watches = 20
	s := testserver.Start(t, nil)
	for range watches {
		open(t, s, "/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=0")
	}
	s.Eventually("the watches are idle on small stacks", func() bool {
		idle := 0
		for _, stack := range stacks() {
			if strings.Contains(stack, "rest/watch.(*Stream).followToBookmark(") && strings.Contains(stack, "wire/h2.(*stream).") &&
				!strings.Contains(stack, "(*handler).ServeHTTP(") {
				idle++
			}
		}
		return idle >= watches
	})
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
