package h2

import (
	"fmt"
	"net/http"
	"testing"
)

// TestRepeatedFieldBetweenOthers: a repeated field does not overwrite a field that the client sent
// in between.
func TestRepeatedFieldBetweenOthers(t *testing.T) {
	t.Parallel()
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.Header["X-First"], r.Header["X-Second"], r.Header["X-Third"])
	}))
	r := dialRaw(t, s.addr, s.roots)
	id := r.newID()
	r.headers(id, true, ":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/",
		"x-first", "1", "x-second", "2", "x-first", "3", "x-third", "4", "x-first", "5")
	if got, want := r.await(id).body, "[1 3 5] [2] [4]"; got != want {
		t.Errorf("the handler gets %s, want %s", got, want)
	}
}
