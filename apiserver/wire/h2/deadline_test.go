package h2

import (
	"errors"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// TestResponseTimeout checks that a response that the client does not read is reset at the
// deadline, whatever its size and however the handler writes it, that other responses of the
// connection still arrive, and that a handler that has removed the deadline may wait longer.
func TestResponseTimeout(t *testing.T) {
	t.Parallel()
	const timeout = 50 * time.Millisecond
	failed := make(chan error, 1)
	waited := make(chan struct{})
	s := startWith(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		switch r.URL.Path {
		case "/small":
			_, _ = w.Write(make([]byte, 100)) // it cannot know
		case "/large":
			_, err = w.Write(make([]byte, 1<<20))
			failed <- err
		case "/pieces":
			for err == nil {
				_, err = w.Write(make([]byte, bodyBytes/2))
			}
			failed <- err
		case "/unbounded":
			err = http.NewResponseController(w).SetWriteDeadline(time.Time{})
			<-waited
			_, err2 := w.Write(make([]byte, 1<<20))
			failed <- errors.Join(err, err2)
		}
	}), Options{ResponseTimeout: timeout})
	client := func(t *testing.T) *raw {
		r := dialTLS(t, s.addr, s.roots)
		r.handshake(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
		return r
	}
	for _, tc := range []struct {
		path   string
		blocks bool // the handler waits
	}{{"/small", false}, {"/large", true}, {"/pieces", true}} {
		t.Run(tc.path[1:], func(t *testing.T) {
			r := client(t)
			begun := time.Now()
			r.wantReset(r.get(tc.path, true), http2.ErrCodeInternal)
			if took := time.Since(begun); took < timeout {
				t.Errorf("reset after %v, which is before the timeout", took)
			}
			if tc.blocks {
				if err := <-failed; !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Error(err)
				}
			}
			if a := r.await(r.get("/empty", true)); a.status != "200" {
				t.Errorf("the next response: %+v", a)
			}
		})
	}
	t.Run("unbounded", func(t *testing.T) {
		r := client(t)
		id := r.get("/unbounded", true)
		close(waited)
		r.wantReset(r.get("/small", true), http2.ErrCodeInternal) // which waits for the timeout after the other began
		r.wantReset(r.get("/small", true), http2.ErrCodeInternal)
		r.must(r.fr.WriteWindowUpdate(0, 1<<20))
		r.must(r.fr.WriteWindowUpdate(id, 1<<20))
		if a := r.await(id); len(a.body) != 1<<20 {
			t.Errorf("%d bytes arrived", len(a.body))
		}
		if err := <-failed; err != nil {
			t.Error(err)
		}
	})
}

// account allows a number of responses to wait, and counts.
type account struct{ left, begun, ended atomic.Int64 }

func (a *account) BeginWaiting() bool { a.begun.Add(1); return a.left.Add(-1) >= 0 }
func (a *account) EndWaiting()        { a.left.Add(1); a.ended.Add(1) }

// TestWaitingResponsesAreCharged: a response that the client takes at once charges nothing; one
// that waits does so once, and is reset if it may not.
func TestWaitingResponsesAreCharged(t *testing.T) {
	t.Parallel()
	a := &account{}
	a.left.Store(1)
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.(interface{ Charge(Account) }).Charge(a)
		for range 3 {
			_, _ = w.Write(make([]byte, bodyBytes)) // the second and the third wait
		}
	}))
	open := dialRaw(t, s.addr, s.roots)
	open.await(open.get("/", true))
	if n := a.begun.Load(); n != 0 {
		t.Errorf("%d charges for a response that did not wait", n)
	}
	shut := dialTLS(t, s.addr, s.roots)
	shut.handshake(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	first := shut.get("/", true)
	for a.begun.Load() != 1 {
		time.Sleep(time.Millisecond)
	}
	shut.wantReset(shut.get("/", true), http2.ErrCodeEnhanceYourCalm)
	shut.must(shut.fr.WriteWindowUpdate(first, 1<<20))
	if r := shut.await(first); len(r.body) != 3*bodyBytes {
		t.Errorf("%d bytes of the response that may wait", len(r.body))
	}
	for a.ended.Load() != a.begun.Load() {
		time.Sleep(time.Millisecond)
	}
	if n := a.begun.Load(); n != 2 {
		t.Errorf("%d charges, want 2", n)
	}
}
