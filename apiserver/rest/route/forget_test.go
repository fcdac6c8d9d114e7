package route

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// TestForget: a call that forgets its request keeps what the log of requests needs, and no more.
func TestForget(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("GET", "/api/v1/pods?labelSelector=a", nil)
	r.Header.Set("User-Agent", strings.Repeat("u", 10_000))
	r.Header.Set("Authorization", "Bearer secret")
	c := &Call{R: r}
	if !c.Query().Has("labelSelector") {
		t.Fatal("the query is not there")
	}
	c.Forget()
	if c.Query().Has("labelSelector") || c.R.URL.RawQuery != "" || c.R.RequestURI != "" || c.query != nil {
		t.Errorf("kept of the query: %q, %q", c.R.URL, c.R.RequestURI)
	}
	if c.R.URL.Path != "/api/v1/pods" || len(c.R.Header) != 1 || len(c.R.Header.Get("User-Agent")) != maxKeptBytes {
		t.Errorf("kept: path %q, header %q", c.R.URL.Path, c.R.Header)
	}
}
