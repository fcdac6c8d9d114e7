package h2

import (
	"context"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

func refuseEarly(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = w.Write([]byte("no")) // the client has what it has
}

// TestResetOnlyOfClientsThatStillSend: a response that is complete before its request is followed
// by a reset only if the client still sends a while later, so that no client receives both at once.
func TestResetOnlyOfClientsThatStillSend(t *testing.T) {
	t.Parallel()
	s := start(t, http.HandlerFunc(refuseEarly))
	r := dialRaw(t, s.addr, s.roots)
	post := func() uint32 {
		id := r.newID()
		r.headers(id, false, ":method", "POST", ":scheme", "https", ":authority", "example.com", ":path", "/")
		r.must(r.fr.WriteData(id, false, make([]byte, 1000)))
		if a := r.await(id); a.status != "401" || a.body != "no" || a.wasReset {
			t.Fatalf("stream %d: %+v", id, a)
		}
		return id
	}
	polite, other := post(), post()
	began := time.Now()
	r.must(r.fr.WriteData(polite, true, make([]byte, 1000)))
	r.must(r.fr.WriteData(other, false, make([]byte, 1000)))
	r.must(r.fr.WritePing(false, [8]byte{'p'}))
	acknowledged := false
	for {
		switch f := r.read().(type) {
		case *http2.PingFrame:
			acknowledged = acknowledged || f.IsAck()
		case *http2.RSTStreamFrame:
			if f.StreamID != other || f.ErrCode != http2.ErrCodeNo {
				t.Errorf("stream %d is reset with %v", f.StreamID, f.ErrCode)
			}
			if !acknowledged || time.Since(began) < resetAfter/2 {
				t.Errorf("reset %s after the response", time.Since(began))
			}
			if a := r.await(r.get("/", true)); a.status != "401" {
				t.Errorf("the next request: %+v", a)
			}
			return
		}
	}
}

// TestEarlyResponseReachesCurl: curl, which discards a response that comes together with a reset,
// gets the refusal of an upload.
func TestEarlyResponseReachesCurl(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("no curl here")
	}
	s := start(t, http.HandlerFunc(refuseEarly))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for range 5 {
		cmd := exec.CommandContext(ctx, curl, "-skg", "--http2", "--data-binary", "@-", "-w", " %{http_code}", s.url("/"))
		cmd.Stdin = strings.NewReader(strings.Repeat("x", 8_000_000))
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "no 401" {
			t.Fatalf("%v: %s", err, out)
		}
	}
}
