package h2

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// TestContextEnds ends requests in each way while others are open, and checks that the context ends
// of those that it must end, and of no other.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		end  func(r *raw, id uint32, base context.CancelFunc)
		path string
		all  bool // requests of the connection
	}{
		{name: "the client resets the stream", end: func(r *raw, id uint32, _ context.CancelFunc) {
			r.must(r.fr.WriteRSTStream(id, http2.ErrCodeCancel))
		}},
		{name: "the client breaks the rules of the stream", end: func(r *raw, id uint32, _ context.CancelFunc) {
			r.must(r.fr.WriteWindowUpdate(id, 1<<31-1))
		}},
		{name: "the client does not read in time", path: "/write", end: func(*raw, uint32, context.CancelFunc) {}},
		{name: "the connection ends", all: true, end: func(r *raw, _ uint32, _ context.CancelFunc) {
			r.must(r.nc.Close())
		}},
		{name: "the server's context ends", all: true, end: func(_ *raw, _ uint32, base context.CancelFunc) { base() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base, end := context.WithCancel(t.Context())
			defer end()
			ended, begun := make(chan string, 8), make(chan struct{}, 8)
			s := startWith(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				// Package context waits for the end of a context in another way than a handler does.
				child, stop := context.WithTimeout(r.Context(), time.Hour)
				defer stop()
				begun <- struct{}{}
				if r.URL.Path == "/write" {
					_, _ = w.Write(make([]byte, 1<<20)) // its error is not what ends the handler
				}
				<-child.Done()
				<-r.Context().Done()
				ended <- r.URL.Path
			}), Options{ResponseTimeout: 50 * time.Millisecond}, func(srv *http.Server) {
				srv.BaseContext = func(net.Listener) context.Context { return base }
			})
			r := dialTLS(t, s.addr, s.roots)
			r.handshake(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1})
			if tt.path == "" {
				tt.path = "/first"
			}
			first := r.get(tt.path, true)
			r.get("/second", true)
			<-begun
			<-begun
			tt.end(r, first, end)
			if tt.all {
				got := map[string]bool{<-ended: true, <-ended: true}
				if !got["/first"] || !got["/second"] {
					t.Errorf("ended: %v", got)
				}
				return
			}
			if path := <-ended; path != tt.path {
				t.Errorf("the context of %s has ended", path)
			}
			third := r.get("/third", true) // all that came before has been handled when this one begins
			<-begun
			select {
			case path := <-ended:
				t.Errorf("the context of %s has ended, too", path)
			default:
			}
			r.must(r.fr.WriteRSTStream(third, http2.ErrCodeCancel))
			if path := <-ended; path != "/third" {
				t.Errorf("the context of %s has ended", path)
			}
			r.must(r.nc.Close())
			<-ended
		})
	}
}

// TestContextOfLateRequest: a request that comes after the server's context has ended has a context
// that has ended, as with net/http.
func TestContextOfLateRequest(t *testing.T) {
	t.Parallel()
	base, end := context.WithCancel(t.Context())
	s := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			<-r.Context().Done()
		}
	}), func(srv *http.Server) {
		srv.BaseContext = func(net.Listener) context.Context { return base }
	})
	r := dialRaw(t, s.addr, s.roots)
	r.await(r.get("/", true))
	end()
	if a := r.await(r.get("/late", true)); a.status != "200" {
		t.Errorf("status %s", a.status)
	}
}

// TestHeaderIsNotKept: a response that goes on after its handler keeps its header only until it has
// been sent.
func TestHeaderIsNotKept(t *testing.T) {
	t.Parallel()
	left := make(chan int, 1)
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-First", "1")
		if r.URL.Path == "/sent" {
			_ = http.NewResponseController(w).Flush()
		}
		w.(*response).Then(continuation(func() bool {
			left <- len(w.Header())
			w.Header().Set("X-Later", "2")
			_, _ = w.Write([]byte("body"))
			return true
		}))
	}))
	r := dialRaw(t, s.addr, s.roots)
	for _, tt := range []struct {
		path  string
		left  int
		later string
	}{{"/sent", 0, ""}, {"/unsent", 1, "2"}} {
		a := r.await(r.get(tt.path, true))
		if n := <-left; n != tt.left || a.fields["x-first"] != "1" || a.fields["x-later"] != tt.later || a.body != "body" {
			t.Errorf("%s: %d fields left, response %+v", tt.path, n, a)
		}
	}
}
