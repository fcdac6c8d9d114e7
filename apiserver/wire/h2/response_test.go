package h2

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

func do(t testing.TB, c *http.Client, method, url string, body io.Reader) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

// responseCase is a handler and the response that its client must get, also from net/http.
type responseCase struct {
	name    string
	method  string
	handler http.HandlerFunc
	status  int
	length  string // Content-Length; "-" for none
	kind    string // Content-Type
	body    string
	broken  bool // the response ends with a reset
}

func answerCases() []responseCase {
	long := strings.Repeat("x", 100_000)
	return []responseCase{
		{name: "nothing_written", handler: func(http.ResponseWriter, *http.Request) {}, status: 200, length: "0"},
		{name: "small_body_gets_a_length", handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
			status: 200, length: "6", kind: "text/html; charset=utf-8", body: "<html>"},
		{name: "header_after_WriteHeader_is_not_sent", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(404)
			w.Header().Set("Content-Type", "a/b")
			w.WriteHeader(500)
		}, status: 404, length: "0"},
		{name: "long_body_has_no_length", handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, long) },
			status: 200, length: "-", kind: "text/plain; charset=utf-8", body: long},
		{name: "content_length", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			_, _ = io.WriteString(w, long)
		}, status: 200, length: "100000", kind: "text/plain; charset=utf-8", body: long},
		{name: "longer_than_content_length", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "3")
			_, _ = io.WriteString(w, "abc")
			if _, err := io.WriteString(w, "d"); err == nil {
				panic("a write beyond Content-Length succeeds")
			}
		}, status: 200, length: "3", kind: "text/plain; charset=utf-8", body: "abc"},
		{name: "flush_sends_the_header", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, "x")
		}, status: 200, length: "-", body: "x"},
		{name: "no_content", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(204)
			if _, err := w.Write([]byte("x")); !errors.Is(err, http.ErrBodyNotAllowed) {
				panic(err)
			}
		}, status: 204, length: "-"},
		{name: "HEAD", method: "HEAD", handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
			status: 200, length: "6", kind: "text/html; charset=utf-8"},
		{name: "HEAD_with_content_length", method: "HEAD", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
		}, status: 200, length: "100"},
		{name: "HEAD_long", method: "HEAD", handler: func(w http.ResponseWriter, _ *http.Request) {
			for range 10 {
				_, _ = w.Write([]byte(long))
			}
		}, status: 200, length: "-"},
		{name: "connection_fields_are_not_sent", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Transfer-Encoding", "chunked")
			w.Header()["X-Odd"] = []string{"a\r\nb"}
			w.Header()["no such name"] = []string{"x"}
		}, status: 200, length: "0"},
		{name: "informational", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", "</a>")
			w.WriteHeader(103)
			w.WriteHeader(201)
		}, status: 201, length: "0"},
		{name: "panic_resets", handler: func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
			panic("mine")
		}, status: 200, broken: true},
		{name: "abort_resets", handler: func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, status: 200, broken: true},
		{name: "shorter_than_content_length_resets", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "x")
			_ = http.NewResponseController(w).Flush()
		}, status: 200, broken: true},
	}
}

func TestResponse(t *testing.T) {
	for _, tt := range answerCases() {
		testResponse(t, tt, tt.handler)
		testResponse(t, tt, func(w http.ResponseWriter, r *http.Request) {
			w.(*response).Then(continuation(func() bool { tt.handler(w, r); return true }))
		})
		for _, early := range []bool{true, false} {
			testResponse(t, tt, pausing(early, tt.handler))
		}
	}
}

// continuation is a function as a Continuation.
type continuation func() (done bool)

func (f continuation) Continue() bool { return f() }

// pausing returns a handler that leaves everything to its third run by Resume, which another
// goroutine calls, either early, while the run before it is still going on, or else once its
// goroutine is about to end.
func pausing(early bool, handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		runs := 0
		w.(*response).Then(continuation(func() (done bool) {
			if runs++; runs == 4 {
				handler(w, r)
				return true
			}
			if !early {
				time.AfterFunc(time.Millisecond, w.(*response).Resume)
				return false
			}
			w.(*response).Resume()
			return false
		}))
	}
}

func testResponse(t *testing.T, tt responseCase, handler http.HandlerFunc) {
	t.Run(tt.name, func(t *testing.T) {
		t.Parallel()
		h2Server := start(t, handler)
		c := h2Server.client(t)
		method := tt.method
		if method == "" {
			method = http.MethodGet
		}
		resp, body, err := do(t, c, method, h2Server.url("/"), nil)
		if tt.broken {
			if err == nil {
				t.Error("came to its end")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		length := "-"
		if l := resp.Header["Content-Length"]; l != nil {
			length = l[0]
		}
		if resp.StatusCode != tt.status || length != tt.length || resp.Header.Get("Content-Type") != tt.kind || body != tt.body {
			t.Errorf("%d, %v, %d bytes", resp.StatusCode, resp.Header, len(body))
		}
		if _, err := http.ParseTime(resp.Header.Get("Date")); err != nil {
			t.Error(err)
		}
		if resp.Header.Get("X-Odd") != "" && resp.Header.Get("X-Odd") != "a  b" {
			t.Errorf("odd value %q", resp.Header.Get("X-Odd"))
		}
	})
}

// A handler that panics leaves nothing to do.
func TestPanicBeforeThen(t *testing.T) {
	ran := make(chan struct{}, 1)
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.(*response).Then(continuation(func() bool { ran <- struct{}{}; return true }))
		panic(http.ErrAbortHandler)
	}))
	if _, _, err := do(t, s.client(t), http.MethodGet, s.url("/"), nil); err == nil {
		t.Error("the response came to its end")
	}
	if err := s.http.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	select {
	case <-ran:
		t.Error("the rest ran")
	default:
	}
}

func TestRequest(t *testing.T) {
	var got *http.Request
	s := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r }))
	req, _ := http.NewRequestWithContext(t.Context(), "PUT", s.url("/a%20b?c=d"), strings.NewReader("xyz"))
	req.Host = "example.com:1"
	req.Header.Set("X-Own", " v\t")
	req.Header.Add("X-Twice", "1")
	req.Header.Add("X-Twice", "2")
	req.Header.Add("Cookie", "a=b")
	req.Header.Add("Cookie", "c=d")
	resp, err := s.client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	h := got.Header
	switch {
	case got.Method != "PUT", got.URL.Path != "/a b", got.URL.RawQuery != "c=d", got.RequestURI != "/a%20b?c=d":
		t.Error("target", got.Method, got.URL, got.RequestURI)
	case got.Proto != "HTTP/2.0", got.ProtoMajor != 2, got.Host != "example.com:1", got.ContentLength != 3:
		t.Error(got.Proto, got.Host, got.ContentLength)
	case got.TLS == nil, got.TLS.NegotiatedProtocol != "h2", got.RemoteAddr == "":
		t.Error("connection", got.TLS, got.RemoteAddr)
	case h.Get("X-Own") != "v", len(h["X-Twice"]) != 2, h.Get("Cookie") != "a=b; c=d", h.Get("Host") != "":
		t.Error("header", h)
	}
	if got.Context().Value(http.ServerContextKey) != s.http {
		t.Error("no server in the context")
	}
	if _, ok := got.Context().Value(http.LocalAddrContextKey).(net.Addr); !ok {
		t.Error("no address in the context")
	}
	if got.Context().Err() == nil {
		t.Error("the context has not ended with the request")
	}
}

func TestContinue(t *testing.T) {
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refuse" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		b, _ := io.ReadAll(r.Body)
		_, _ = w.Write(b)
	}))
	for path, want := range map[string]string{"/": "100", "/refuse": "403"} {
		r := dialRaw(t, s.addr, s.roots)
		id := r.newID()
		r.headers(id, false, ":method", "PUT", ":scheme", "https", ":path", path, "expect", "100-continue")
		for {
			f, ok := r.read().(*http2.HeadersFrame)
			if !ok {
				continue
			}
			fields, err := r.decoder().DecodeFull(f.HeaderBlockFragment())
			r.must(err)
			if fields[0].Value != want {
				t.Errorf("%s: %v", path, fields)
			}
			break
		}
		if want == "100" {
			r.must(r.fr.WriteData(id, true, []byte("hello")))
			if a := r.await(id); a.status != "200" || a.body != "hello" {
				t.Errorf("%+v", a)
			}
		}
	}
}

func TestDeadlines(t *testing.T) {
	failed := make(chan error, 1)
	writing := make(chan http.ResponseWriter, 1)
	big := make([]byte, 1<<20)
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		var err error
		switch r.URL.Path {
		case "/write":
			err = rc.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
			for err == nil {
				_, err = w.Write(big)
			}
		case "/write-cut":
			writing <- w
			for err == nil {
				_, err = w.Write(big)
			}
		case "/read":
			err = errors.Join(rc.SetReadDeadline(time.Now().Add(20 * time.Millisecond)))
			if err == nil {
				_, err = r.Body.Read(make([]byte, 1))
			}
		}
		failed <- err
	}))
	small := func(t *testing.T) *raw {
		r := dialTLS(t, s.addr, s.roots)
		r.handshake()
		return r
	}
	t.Run("write_that_waits_for_the_client_fails_and_resets", func(t *testing.T) {
		r := small(t)
		id := r.get("/write", true)
		if err := <-failed; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		r.wantReset(id, http2.ErrCodeInternal)
		r.must(r.fr.WritePing(false, [8]byte{}))
	})
	t.Run("deadline_in_the_past_cuts_a_write_under_way", func(t *testing.T) {
		r := small(t)
		id := r.get("/write-cut", true)
		w := <-writing
		if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(-time.Second)); err != nil {
			t.Error(err)
		}
		if err := <-failed; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		r.wantReset(id, http2.ErrCodeInternal)
	})
	t.Run("read_fails_and_the_response_can_still_be_sent", func(t *testing.T) {
		r := small(t)
		id := r.get("/read", false)
		if err := <-failed; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		if a := r.await(id); a.status != "200" {
			t.Errorf("%+v", a)
		}
	})
}

func TestCancel(t *testing.T) {
	ended := make(chan error, 2)
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		_, err := w.Write(make([]byte, 1<<20))
		ended <- err
	}))
	t.Run("reset_by_the_client", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		req, _ := http.NewRequestWithContext(ctx, "GET", s.url("/"), nil)
		resp, err := s.client(t).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		_ = resp.Body.Close()
		if err := <-ended; err == nil {
			t.Error("wrote to a stream that is gone")
		}
	})
	t.Run("HEAD_ends_with_its_header", func(t *testing.T) {
		if _, _, err := do(t, s.client(t), "HEAD", s.url("/"), nil); err != nil {
			t.Error(err)
		}
		<-ended
	})
	t.Run("connection_lost", func(t *testing.T) {
		r := dialRaw(t, s.addr, s.roots)
		r.get("/", true)
		r.get("/", false)
		for range 3 {
			r.read()
		}
		_ = r.nc.Close()
		for range 2 {
			if err := <-ended; err == nil {
				t.Error("wrote to a connection that is gone")
			}
		}
	})
}

func TestEarlyResponse(t *testing.T) {
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/early" {
			_ = r.Body.Close()
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		n, _ := io.Copy(io.Discard, r.Body)
		_ = n
	}))
	c := s.client(t)
	for range 20 { // unread bodies must be credited to the window
		resp, err := c.Post(s.url("/early"), "x/y", bytes.NewReader(make([]byte, 1<<20)))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Error(resp.Status)
		}
	}
	if resp, _, err := do(t, c, "POST", s.url("/"), bytes.NewReader(make([]byte, 4<<20))); err != nil || resp.StatusCode != 200 {
		t.Error(resp, err)
	}
}
