package apiserver_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/internal/testserver"
)

// TestWatchEndsWithItsToken: a watch ends cleanly, with a bookmark, when the token that it began
// with expires, and a new one with that token is refused.
func TestWatchEndsWithItsToken(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	const validFor = 3 * time.Second
	header := "Authorization: Bearer " + s.IssueTokenFor(validFor, "short", auth.MastersGroup)
	const path = "/api/v1/configmaps?watch=1&allowWatchBookmarks=1&timeoutSeconds=300"
	watches := make(map[string]*http.Response)
	for name, client := range map[string]*http.Client{"HTTP/2": s.Client, "HTTP/1": s.NewHTTP1Client()} {
		resp, err := client.Do(s.Request("GET", path, "", header))
		if err != nil {
			t.Fatal(err)
		}
		watches[name] = resp
	}
	for name, resp := range watches {
		defer resp.Body.Close()
		events, err := io.ReadAll(resp.Body) // a stream that goes on fails with the request's time
		if err != nil || resp.StatusCode != 200 || strings.Count(string(events), `"BOOKMARK"`) < 2 || strings.Contains(string(events), `"ERROR"`) {
			t.Errorf("%s: %d %q, %v", name, resp.StatusCode, events, err)
		}
	}
	check(t, s.Do("GET", path, "", header), want{code: 401})
}
