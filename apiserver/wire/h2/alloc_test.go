package h2

import (
	"bytes"
	"context"
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

// maxAllocs bounds the allocations of a small GET, including two of the client: the http.Request
// with its parts and a goroutine.
const maxAllocs = 15

func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	body := bytes.Repeat([]byte("x"), 1024)
	kind := []string{"application/json"}
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = kind
		_, _ = w.Write(body)
	}))
	r := dialRaw(t, s.addr, s.roots)
	head := []string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/",
		"accept", "application/json", "user-agent", "test", "authorization", "Bearer 0123456789"}
	r.headers(r.newID(), true, head...)
	// The encoder has indexed all fields by now.
	frame := appendHeaders(nil, 0, r.encode(head...), true, maxFrameBytes)
	buf := make([]byte, 64<<10)
	id := r.newID()
	request := func() {
		frame[5], frame[6], frame[7], frame[8] = byte(id>>24), byte(id>>16), byte(id>>8), byte(id)
		id += 2
		if _, err := r.nc.Write(frame); err != nil {
			t.Fatal(err)
		}
		for got := 0; got < len(body); {
			n, err := r.nc.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			got += n
		}
	}
	for range 100 {
		request()
	}
	if n := testing.AllocsPerRun(2000, request); n > maxAllocs {
		t.Errorf("%v allocations for a GET, want %d at most", n, maxAllocs)
	} else {
		t.Logf("%v allocations for a GET", n)
	}
}

func TestOtherClients(t *testing.T) {
	s := start(t, basicHandler())
	t.Run("curl", func(t *testing.T) {
		curl, err := exec.LookPath("curl")
		if err != nil {
			t.Skip("no curl here")
		}
		if out, _ := exec.Command(curl, "--version").Output(); !bytes.Contains(out, []byte("HTTP2")) {
			t.Skip("this curl speaks no HTTP/2")
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cmd := exec.CommandContext(ctx, curl, "-skg", "--http2", "--data-binary", "@-", "-w", " %{http_version} %{http_code}",
			s.url("/a"), s.url("/b"), s.url("/c"))
		cmd.Stdin = strings.NewReader(strings.Repeat("x", 300_000))
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != strings.Repeat("300000 2 200", 3) {
			t.Errorf("%v: %s", err, out)
		}
	})
	t.Run("HTTP/1.1_is_left_alone", func(t *testing.T) {
		tr := s.client(t).Transport.(*http.Transport)
		tr.ForceAttemptHTTP2 = false
		tr.TLSClientConfig.NextProtos = []string{"http/1.1"}
		resp, body, err := do(t, &http.Client{Transport: tr}, "POST", s.url("/"), strings.NewReader("abc"))
		if err != nil || body != "3" || resp.ProtoMajor != 1 {
			t.Error(resp, body, err)
		}
	})
}
