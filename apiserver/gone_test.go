package apiserver

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/negotiate"
)

// goneWriter is the writer of a client that goes after the first piece.
type goneWriter struct {
	*httptest.ResponseRecorder
	pieces int
}

func (w *goneWriter) Write(p []byte) (int, error) {
	if w.pieces++; w.pieces > 1 {
		return 0, errors.New("stream reset")
	}
	return len(p), nil
}

func (w *goneWriter) SetWriteDeadline(time.Time) error { return nil }

// TestReaderGone_I29: that a client goes in the middle of a list is no fault of ours, to be logged
// and counted.
func TestReaderGone_I29(t *testing.T) {
	t.Parallel()
	f, token, log := bareHandler(t, &route.Endpoint{Verb: "get", Serve: func(c *route.Call) error {
		out := c.Stream(negotiate.JSON)
		for range 10 {
			out.Buf = append(out.Buf, make([]byte, 64<<10)...)
			if err := out.Spill(); err != nil {
				return err
			}
		}
		return out.Close()
	}})
	w := &goneWriter{ResponseRecorder: httptest.NewRecorder()}
	aborted := func() (reason any) {
		defer func() { reason = recover() }()
		r := httptest.NewRequest(http.MethodGet, "/x", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		f.ServeHTTP(w, r)
		return nil
	}()
	if err, ok := aborted.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
		t.Errorf("ended with %v", aborted)
	}
	if n := valueOf(t, f.metrics.unmapped); n != 0 || strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("%v unmapped: %s", n, log)
	}
	if w.pieces != 2 {
		t.Errorf("%d pieces", w.pieces)
	}
}
