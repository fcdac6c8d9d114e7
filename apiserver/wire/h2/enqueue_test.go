package h2

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// begun flushes the header of a response and returns the response.
func begun(w http.ResponseWriter) *response {
	_ = http.NewResponseController(w).Flush()
	return w.(*response)
}

// TestTryEnqueue: enqueued bytes are sent in order among those that the handler writes, and none
// are taken before the header.
func TestTryEnqueue(t *testing.T) {
	big := bytes.Repeat([]byte("b"), 100_000)
	for _, tc := range []struct {
		name    string
		handler func(w http.ResponseWriter) string // returns a failure, or ""
		want    string
	}{
		{"before the header", func(w http.ResponseWriter) string {
			if w.(*response).TryEnqueue([]byte("x")) {
				return "taken"
			}
			return ""
		}, ""},
		{"between writes", func(w http.ResponseWriter) string {
			l := begun(w)
			for _, part := range []string{"one,", "two,"} {
				if !l.TryEnqueue([]byte(part)) {
					return part + " refused"
				}
				_, _ = io.WriteString(w, part)
				_ = http.NewResponseController(w).Flush()
			}
			return ""
		}, "one,one,two,two,"},
		{"more than a frame, and then the end", func(w http.ResponseWriter) string {
			if !begun(w).TryEnqueue(big) {
				return "refused"
			}
			return ""
		}, string(big)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			wrong := make(chan string, 1)
			s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { wrong <- tc.handler(w) }))
			_, body, err := do(t, s.client(t), "GET", s.url("/"), nil)
			if w := <-wrong; err != nil || w != "" || body != tc.want {
				t.Errorf("%s; %v; got %.40q", w, err, body)
			}
		})
	}
}

// enqueueing starts a server whose handlers send their response on the first channel, then call one
// function received from the second channel, and connects a client to it.
func enqueueing(t *testing.T) (r *raw, responses chan *response, act chan func(w http.ResponseWriter)) {
	responses, act = make(chan *response), make(chan func(w http.ResponseWriter))
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		responses <- begun(w)
		if do, ok := <-act; ok {
			do(w)
		}
	}))
	return dialTLS(t, s.addr, s.roots), responses, act
}

// TestEnqueueToSlowClient: TryEnqueue does not block while the client's window is shut; the next
// write of the handler waits until the enqueued bytes have gone.
func TestEnqueueToSlowClient(t *testing.T) {
	r, responses, act := enqueueing(t)
	r.handshake(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 3})
	id := r.get("/", true)
	l := <-responses
	switch {
	case !l.TryEnqueue([]byte("abcdef")) || !l.Pending():
		t.Fatal("refused, or not pending")
	case l.TryEnqueue([]byte("x")):
		t.Fatal("taken while earlier bytes are pending")
	}
	act <- func(w http.ResponseWriter) { _, _ = io.WriteString(w, "gh") }
	r.must(r.fr.WriteWindowUpdate(id, 100))
	if a := r.await(id); a.body != "abcdefgh" || a.wasReset {
		t.Errorf("%+v", a)
	}
}

// TestEnqueueAfterReset: a stream that the client resets drops the enqueued bytes and refuses more.
func TestEnqueueAfterReset(t *testing.T) {
	r, responses, act := enqueueing(t)
	r.handshake(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	id := r.get("/", true)
	l := <-responses
	if !l.TryEnqueue([]byte("abc")) {
		t.Fatal("refused")
	}
	r.must(r.fr.WriteRSTStream(id, http2.ErrCodeCancel))
	for l.Pending() {
		time.Sleep(time.Millisecond)
	}
	if l.TryEnqueue([]byte("abc")) {
		t.Error("taken after the stream's end")
	}
	close(act)
	r.wantServedBy(responses)
}

// wantServedBy expects the connection to serve another stream.
func (r *raw) wantServedBy(responses chan *response) {
	r.t.Helper()
	id := r.get("/", true)
	<-responses
	if a := r.await(id); a.status != "200" {
		r.t.Errorf("%+v", a)
	}
}

// TestEnqueueDeadline: after a write deadline in the past, the handler's next write fails because
// enqueued bytes are still pending.
func TestEnqueueDeadline(t *testing.T) {
	failed := make(chan error, 1)
	r, responses, act := enqueueing(t)
	r.handshake(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	id := r.get("/", true)
	if !(<-responses).TryEnqueue([]byte("abc")) {
		t.Fatal("refused")
	}
	act <- func(w http.ResponseWriter) {
		rc := http.NewResponseController(w)
		_ = rc.SetWriteDeadline(time.Now().Add(-time.Second))
		_, _ = io.WriteString(w, "def")
		failed <- rc.Flush()
	}
	if err := <-failed; err == nil || !strings.Contains(err.Error(), os.ErrDeadlineExceeded.Error()) {
		t.Errorf("%v", err)
	}
	r.wantReset(id, http2.ErrCodeInternal)
}

// TestEnqueueToMany: with more bytes enqueued on the streams of a connection than its buffer holds,
// each stream sends all of its bytes once, in order.
func TestEnqueueToMany(t *testing.T) {
	const streams, parts = 100, 5
	responses := make(chan *response, streams)
	end := make(chan struct{})
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		responses <- begun(w)
		<-end
	}))
	c := s.client(t)
	bodies := make(chan string, streams)
	all := make([]*response, streams)
	for i := range all {
		go func() {
			_, body, err := do(t, c, "GET", s.url("/"), nil)
			if err != nil {
				body = err.Error()
			}
			bodies <- body
		}()
		all[i] = <-responses // one at a time, or the client would dial several connections
		if all[i].Connection() != all[0].Connection() {
			t.Error("another connection")
		}
	}
	var want strings.Builder
	for part := range parts {
		p := bytes.Repeat([]byte{byte('a' + part)}, 20_000)
		want.Write(p)
		for _, l := range all {
			for !l.TryEnqueue(p) { // until the client has read the part before
				time.Sleep(time.Millisecond)
			}
		}
	}
	close(end)
	for range streams {
		if got := <-bodies; got != want.String() {
			t.Errorf("got %d bytes, want %d", len(got), want.Len())
		}
	}
}
