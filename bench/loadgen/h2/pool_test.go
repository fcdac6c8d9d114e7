package h2

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"
)

// serve starts a server, and returns a Pool for it and the number of its connections so far.
func serve(t *testing.T, config http.HTTP2Config, handle http.HandlerFunc) (*Pool, *atomic.Int64) {
	t.Helper()
	srv := httptest.NewUnstartedServer(handle)
	srv.Config.HTTP2 = &config
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	dials := new(atomic.Int64)
	authority := srv.Listener.Addr().String()
	p := NewPool("https", authority, func(ctx context.Context) (net.Conn, error) {
		dials.Add(1)
		d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}}
		return d.DialContext(ctx, "tcp", authority)
	})
	t.Cleanup(p.Close)
	return p, dials
}

func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || int64(len(body)) != r.ContentLength {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, "%s %s %s ", r.Method, r.URL.Path, r.Header.Get("X-Who"))
	w.Write(body)
}

// Each caller gets the response to its own request, whoever else uses the connection, and bodies of
// all sizes arrive whole: also those that the windows of either side have no room for at once.
func TestRequestsShareAConnection(t *testing.T) {
	p, dials := serve(t, http.HTTP2Config{}, echo)
	var all sync.WaitGroup
	for who := range 50 {
		all.Go(func() {
			var buf []byte
			for i, size := range []int{0, 1, 1000, 16 << 10, 70_000, 1 << 20} {
				body := bytes.Repeat([]byte{byte('a' + who%26)}, size)
				path := fmt.Sprintf("/%d/%d", who, i)
				r, err := p.Do(t.Context(), &Request{Method: "PUT", Path: path, Header: [][2]string{{"x-who", fmt.Sprint(who)}}, Body: body}, buf[:0])
				buf = r.Body
				if want := fmt.Sprintf("PUT %s %d ", path, who); err != nil || r.Status != 201 || string(r.Body) != want+string(body) || r.Began.IsZero() {
					t.Errorf("%s of %d bytes: %v, status %d, %d bytes, %.40q", path, size, err, r.Status, len(r.Body), r.Body)
				}
			}
		})
	}
	all.Wait()
	if n := dials.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// A response of more than the connection's window in all needs no more than the client's updates.
func TestLargeResponses(t *testing.T) {
	block := bytes.Repeat([]byte("x"), 64<<20)
	p, _ := serve(t, http.HTTP2Config{}, func(w http.ResponseWriter, _ *http.Request) { w.Write(block) })
	var buf []byte
	for i := range receiveWindow/len(block) + 2 {
		r, err := p.Do(t.Context(), &Request{Method: "GET", Path: "/"}, buf[:0])
		if buf = r.Body; err != nil || len(buf) != len(block) {
			t.Fatalf("response %d: %v, %d bytes", i, err, len(buf))
		}
	}
}

// More requests than the server allows on a connection get further connections, also while the
// client does not know yet what it allows.
func TestAllowedRequests(t *testing.T) {
	const at, allowed = 12, 4
	arrived, leave := make(chan struct{}, at), make(chan struct{})
	p, dials := serve(t, http.HTTP2Config{MaxConcurrentStreams: allowed}, func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-leave
	})
	get := func() {
		if r, err := p.Do(t.Context(), &Request{Method: "GET", Path: "/"}, nil); err != nil || r.Status != 200 {
			t.Errorf("%v, status %d", err, r.Status)
			arrived <- struct{}{} // so that nothing waits for it
		}
	}
	var all sync.WaitGroup
	for range at {
		all.Go(get)
		<-arrived // all that began before run
	}
	close(leave)
	all.Wait()
	if n := dials.Load(); n < at/allowed {
		t.Errorf("%d connections for %d requests, of which %d are allowed on each", n, at, allowed)
	}
}

// A request that the server has refused is sent again, and again, but not for ever.
func TestRefusedRequests(t *testing.T) {
	for _, refused := range []int{1, maxRefusals, maxRefusals + 1} {
		client, server := net.Pipe()
		go refuse(server, refused)
		p := NewPool("http", "example.com", func(context.Context) (net.Conn, error) { return client, nil })
		r, err := p.Do(t.Context(), &Request{Method: "GET", Path: "/"}, nil)
		if refused <= maxRefusals && (err != nil || r.Status != 204) || refused > maxRefusals && !errors.Is(err, errRefused) {
			t.Errorf("refused %d times: %v, status %d", refused, err, r.Status)
		}
		p.Close()
	}
}

// refuse serves one connection: it refuses as many requests, and responds to the next with 204.
func refuse(c net.Conn, requests int) {
	io.ReadFull(c, make([]byte, len(http2.ClientPreface)))
	framer := http2.NewFramer(c, c)
	for {
		f, err := framer.ReadFrame()
		if err != nil {
			return // the client has closed it
		}
		if f.Header().Type != http2.FrameHeaders {
			continue
		}
		if requests--; requests >= 0 {
			framer.WriteRSTStream(f.Header().StreamID, http2.ErrCodeRefusedStream)
			continue
		}
		status204 := []byte{0x89} // RFC 7541, appendix A
		framer.WriteHeaders(http2.HeadersFrameParam{
			StreamID: f.Header().StreamID, BlockFragment: status204, EndHeaders: true, EndStream: true,
		})
	}
}

// A caller that gives up ends its own request only, and the server hears of it.
func TestCancel(t *testing.T) {
	arrived, ended := make(chan struct{}), make(chan struct{})
	p, dials := serve(t, http.HTTP2Config{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			w.(http.Flusher).Flush()
			close(arrived)
			<-r.Context().Done()
			close(ended)
			return
		}
		echo(w, r)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	if _, err := p.Do(ctx, &Request{Method: "GET", Path: "/wait"}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-ended
	if r, err := p.Do(t.Context(), &Request{Method: "PUT", Path: "/", Body: []byte("b")}, nil); err != nil || r.Status != 201 || dials.Load() != 1 {
		t.Errorf("after it: %v, status %d, %d connections", err, r.Status, dials.Load())
	}
}

// A body that nobody reads waits for its window until the caller gives up, or the server responds.
func TestBodyWithoutAReader(t *testing.T) {
	arrived := make(chan struct{})
	p, _ := serve(t, http.HTTP2Config{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refused" {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		close(arrived)
		<-r.Context().Done()
	})
	body := make([]byte, 8<<20)
	if r, err := p.Do(t.Context(), &Request{Method: "PUT", Path: "/refused", Body: body}, nil); err != nil || r.Status != 413 {
		t.Errorf("refused: %v, status %d", err, r.Status)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	if _, err := p.Do(ctx, &Request{Method: "PUT", Path: "/wait", Body: body}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A request that the server resets fails alone. One whose connection breaks fails, and the next
// request gets a new connection.
func TestFailures(t *testing.T) {
	p, dials := serve(t, http.HTTP2Config{}, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/reset":
			panic(http.ErrAbortHandler)
		case "/break":
			p := r.Context().Value(http.ServerContextKey).(*http.Server)
			p.Close()
		}
	})
	get := func(path string) error {
		_, err := p.Do(t.Context(), &Request{Method: "GET", Path: path}, nil)
		return err
	}
	if err := errors.Join(get("/"), get("/")); err != nil {
		t.Fatal(err)
	}
	if err := get("/reset"); err == nil || !strings.Contains(err.Error(), "stream error") {
		t.Errorf("reset: %v", err)
	}
	if err := get("/"); err != nil || dials.Load() != 1 {
		t.Errorf("after a reset: %v, %d connections", err, dials.Load())
	}
	if err := get("/break"); err == nil {
		t.Error("a request succeeds whose connection breaks")
	}
	if err := get("/"); err == nil || dials.Load() != 2 {
		t.Errorf("after the server's end: %v, %d connections", err, dials.Load())
	}
}

// scripted returns a Pool whose server runs a script on its first connection, after the exchange of
// settings, and reads on until the client has closed it.
func scripted(t *testing.T, script func(*http2.Framer) error) *Pool {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		server, err := listener.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		defer server.Close()
		f := http2.NewFramer(server, server)
		_, err = io.CopyN(io.Discard, server, int64(len(http2.ClientPreface)))
		if err := errors.Join(err, f.WriteSettings(), script(f)); err != nil {
			t.Error(err)
		}
		io.Copy(io.Discard, server) // until the client's end
	})
	p := NewPool("https", "scripted", func(context.Context) (net.Conn, error) { return net.Dial("tcp", listener.Addr().String()) })
	t.Cleanup(func() {
		p.Close()
		all.Wait()
		listener.Close()
	})
	return p
}

// request skips frames until the headers of a request, and returns its stream.
func request(f *http2.Framer) (uint32, error) {
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return 0, err
		}
		if frame.Header().Type == http2.FrameHeaders {
			return frame.Header().StreamID, nil
		}
	}
}

// After GOAWAY the requests that the server still responds to finish, later ones fail, and new ones
// get another connection.
func TestGoAway(t *testing.T) {
	ok := []byte{0x88} // :status 200
	p := scripted(t, func(f *http2.Framer) error {
		first, err := request(f)
		_, err2 := request(f)
		return errors.Join(err, err2, f.WriteGoAway(first, http2.ErrCodeNo, nil),
			f.WriteHeaders(http2.HeadersFrameParam{StreamID: first, EndStream: true}),
			f.WriteContinuation(first, true, ok)) // headers may come in parts
	})
	results := make(chan error, 2)
	for range 2 {
		go func() {
			r, err := p.Do(t.Context(), &Request{Method: "GET", Path: "/"}, nil)
			if err == nil && r.Status != 200 {
				err = fmt.Errorf("status %d", r.Status)
			}
			results <- err
		}()
	}
	a, b := <-results, <-results
	if a == nil {
		a, b = b, a
	}
	if !errors.Is(a, errGoAway) || b != nil {
		t.Errorf("got %v and %v", a, b)
	}
	c, err := p.reserve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.release()
	if c.next != 1 {
		t.Error("a connection is used after GOAWAY")
	}
}
