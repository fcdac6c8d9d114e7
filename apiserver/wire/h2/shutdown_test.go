package h2

import (
	"context"
	"io"
	"net/http"
	"testing"

	"golang.org/x/net/http2"
)

// shutDownUnderWay shuts a server down during a request.
func shutDownUnderWay(t *testing.T, handler http.Handler, begun <-chan struct{}, finish chan<- struct{}) {
	t.Helper()
	s := start(t, handler)
	c := s.client(t)
	body := make(chan string, 1)
	go func() {
		resp, err := c.Get(s.url("/slow"))
		if err != nil {
			body <- err.Error()
			return
		}
		b, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		body <- string(b)
	}()
	<-begun
	down := make(chan error, 1)
	go func() { down <- s.http.Shutdown(context.Background()) }()
	select {
	case err := <-down:
		t.Fatal("did not wait", err)
	default:
	}
	finish <- struct{}{}
	if b := <-body; b != "whole" {
		t.Error(b)
	}
	if err := <-down; err != nil {
		t.Error(err)
	}
}

func TestShutdown(t *testing.T) {
	begun, finish := make(chan struct{}), make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			begun <- struct{}{}
			<-finish
		}
		_, _ = io.WriteString(w, "whole")
	})
	later := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(*response).Then(continuation(func() bool { handler(w, r); return true }))
	})
	paused := pausing(false, handler)
	for name, handler := range map[string]http.Handler{
		"request_under_way_is_finished": handler, "request_with_something_left_to_do_is_finished": later,
		"paused_request_is_finished": paused,
	} {
		t.Run(name, func(t *testing.T) { shutDownUnderWay(t, handler, begun, finish) })
	}
	t.Run("idle_connections_end_at_once", func(t *testing.T) {
		s := start(t, handler)
		get(t, s.client(t), s.url("/"))
		if err := s.http.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("what_is_on_its_way_is_served_and_later_ones_refused", func(t *testing.T) {
		s := start(t, handler)
		r := dialRaw(t, s.addr, s.roots)
		slow := r.get("/slow", true)
		<-begun
		down := make(chan error, 1)
		go func() { down <- s.http.Shutdown(context.Background()) }()
		if last := r.goAway(); last != maxWindow {
			t.Errorf("first GOAWAY names %d", last)
		}
		r.wantServed() // sent before the client could know
		r.must(r.fr.WritePing(true, drainPing()))
		if last := r.goAway(); last != r.nextID-2 {
			t.Errorf("second GOAWAY names %d", last)
		}
		r.wantReset(r.get("/", true), http2.ErrCodeRefusedStream)
		finish <- struct{}{}
		if a := r.await(slow); a.body != "whole" {
			t.Errorf("%+v", a)
		}
		if _, err := r.fr.ReadFrame(); err != io.EOF {
			t.Error("not closed", err)
		}
		_ = r.nc.Close()
		if err := <-down; err != nil {
			t.Error(err)
		}
	})
	t.Run("a_client_that_says_nothing_is_not_waited_for", func(t *testing.T) {
		s := start(t, handler)
		r := dialRaw(t, s.addr, s.roots)
		r.wantServed()
		if err := s.http.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("a_handler_may_ask_for_it", func(t *testing.T) {
		s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") }))
		r := dialRaw(t, s.addr, s.roots)
		r.get("/", true)
		r.goAway()
	})
	t.Run("Close_ends_requests", func(t *testing.T) {
		ended := make(chan struct{})
		s := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			begun <- struct{}{}
			<-r.Context().Done()
			close(ended)
		}))
		dialRaw(t, s.addr, s.roots).get("/", true)
		<-begun
		if err := s.http.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	})
}

// goAway returns the last stream that the next GOAWAY names.
func (r *raw) goAway() uint32 {
	r.t.Helper()
	for {
		if f, ok := r.read().(*http2.GoAwayFrame); ok {
			return f.LastStreamID
		}
	}
}
