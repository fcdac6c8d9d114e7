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

// begun flushes an answer's header and returns what lends.
func begun(w http.ResponseWriter) *response {
	_ = http.NewResponseController(w).Flush()
	return w.(*response)
}

// TestLend: what is lent goes out in its place among what the handler writes, and nothing is taken that would have to wait.
func TestLend(t *testing.T) {
	big := bytes.Repeat([]byte("b"), 100_000)
	for _, tc := range []struct {
		name    string
		handler func(w http.ResponseWriter) string // returns what is wrong
		want    string
	}{
		{"before the header", func(w http.ResponseWriter) string {
			if w.(*response).Lend([]byte("x")) {
				return "taken"
			}
			return ""
		}, ""},
		{"between writes", func(w http.ResponseWriter) string {
			l := begun(w)
			for _, part := range []string{"one,", "two,"} {
				if !l.Lend([]byte(part)) {
					return part + " not taken"
				}
				_, _ = io.WriteString(w, part)
				_ = http.NewResponseController(w).Flush()
			}
			return ""
		}, "one,one,two,two,"},
		{"more than a frame, and an end right behind it", func(w http.ResponseWriter) string {
			if !begun(w).Lend(big) {
				return "not taken"
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

// lendTo serves streams whose handlers hand over what lends, and do what they are told.
func lendTo(t *testing.T) (r *raw, lenders chan *response, act chan func(w http.ResponseWriter)) {
	lenders, act = make(chan *response), make(chan func(w http.ResponseWriter))
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		lenders <- begun(w)
		if do, ok := <-act; ok {
			do(w)
		}
	}))
	return dialSilent(t, s.addr, s.roots), lenders, act
}

// TestLendToAClientThatDoesNotTakeIt: the lender never waits; its handler does, behind what was lent.
func TestLendToAClientThatDoesNotTakeIt(t *testing.T) {
	r, lenders, act := lendTo(t)
	r.greet(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 3})
	id := r.get("/", true)
	l := <-lenders
	switch {
	case !l.Lend([]byte("abcdef")) || !l.Lent():
		t.Fatal("not taken, or not waiting")
	case l.Lend([]byte("x")):
		t.Fatal("taken though something waits")
	}
	act <- func(w http.ResponseWriter) { _, _ = io.WriteString(w, "gh") }
	r.must(r.fr.WriteWindowUpdate(id, 100))
	if a := r.await(id); a.body != "abcdefgh" || a.wasReset {
		t.Errorf("%+v", a)
	}
}

// TestLendAfterTheEnd: a stream that is broken off takes nothing, and lets go of what it was lent.
func TestLendAfterTheEnd(t *testing.T) {
	r, lenders, act := lendTo(t)
	r.greet(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	id := r.get("/", true)
	l := <-lenders
	if !l.Lend([]byte("abc")) {
		t.Fatal("not taken")
	}
	r.must(r.fr.WriteRSTStream(id, http2.ErrCodeCancel))
	for l.Lent() {
		time.Sleep(time.Millisecond)
	}
	if l.Lend([]byte("abc")) {
		t.Error("taken after the stream's end")
	}
	close(act)
	r.wantServedBy(lenders)
}

// wantServedBy asks for another stream, which shows that the connection is well.
func (r *raw) wantServedBy(lenders chan *response) {
	r.t.Helper()
	id := r.get("/", true)
	<-lenders
	if a := r.await(id); a.status != "200" {
		r.t.Errorf("%+v", a)
	}
}

// TestLentDeadline: who wants a stream ended whose client takes nothing sets its write deadline; the handler's next write fails.
func TestLentDeadline(t *testing.T) {
	failed := make(chan error, 1)
	r, lenders, act := lendTo(t)
	r.greet(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	id := r.get("/", true)
	if !(<-lenders).Lend([]byte("abc")) {
		t.Fatal("not taken")
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

// TestLendToMany: streams of a connection get what they were lent, whatever room there is, each once and in order.
func TestLendToMany(t *testing.T) {
	const streams, parts = 100, 5
	lenders := make(chan *response, streams)
	end := make(chan struct{})
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		lenders <- begun(w)
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
		all[i] = <-lenders // one after the other, or the client would dial more than once
		if all[i].Connection() != all[0].Connection() {
			t.Error("another connection")
		}
	}
	var want strings.Builder
	for part := range parts {
		p := bytes.Repeat([]byte{byte('a' + part)}, 20_000)
		want.Write(p)
		for _, l := range all {
			for !l.Lend(p) { // until the client has taken the last
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
