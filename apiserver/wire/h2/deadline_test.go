package h2

import (
	"errors"
	"net/http"
	"os"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// A response that the client does not read is reset at the deadline, whatever its size and however
// the handler writes it, and other responses of the connection arrive. A handler that has removed
// the deadline may wait longer.
func TestResponseTimeout(t *testing.T) {
	t.Parallel()
	const timeout = 50 * time.Millisecond
	failed := make(chan error, 1)
	waited := make(chan struct{})
	s := startWith(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		switch r.URL.Path {
		case "/small":
			_, err = w.Write(make([]byte, 100))
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
