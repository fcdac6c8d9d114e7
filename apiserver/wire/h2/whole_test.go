package h2

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// readWhole calls ReadWhole of a request's body.
func readWhole(r *http.Request) ([]byte, bool, error) {
	return r.Body.(interface {
		ReadWhole() ([]byte, bool, error)
	}).ReadWhole()
}

// post begins a request with a body of a length.
func (u *upload) post(length int, fields ...string) uint32 {
	u.t.Helper()
	id := u.newID()
	u.streams[id] = defaultStreamWindow
	u.headers(id, false, append([]string{":method", "POST", ":scheme", "https", ":authority", "example.com", ":path", "/",
		"content-length", strconv.Itoa(length)}, fields...)...)
	return id
}

// TestWholeBodiesAreTheirOwn: handlers keep bodies that arrived in the frames of many streams at a
// time, and each has its own when all have ended. The windows regain what was read.
func TestWholeBodiesAreTheirOwn(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	kept := map[string][]byte{}
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // of wantServed
			return
		}
		body, ok, err := readWhole(r)
		if !ok || err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		kept[r.Header.Get("X-Number")] = body
	}))
	u := newUpload(t, s)
	rng := rand.New(rand.NewPCG(1, 2))
	want := map[string][]byte{}
	for total := 0; total < 2*defaultConnWindow; {
		type sending struct {
			id   uint32
			left []byte
		}
		var open []*sending
		for range 8 {
			body := make([]byte, 1+rng.IntN(maxFrameBytes))
			for i := range body {
				body[i] = byte(rng.Uint32())
			}
			number := strconv.Itoa(len(want))
			want[number] = body
			open = append(open, &sending{u.post(len(body), "x-number", number), body})
			total += len(body)
		}
		for len(open) > 0 { // parts of one body after parts of another
			i := rng.IntN(len(open))
			o := open[i]
			n := min(len(o.left), 1+rng.IntN(maxFrameBytes/2))
			u.reserve(o.id, n)
			u.must(u.fr.WriteData(o.id, n == len(o.left), o.left[:n]))
			if o.left = o.left[n:]; len(o.left) == 0 {
				open = slices.Delete(open, i, i+1)
			}
		}
	}
	u.wantServed()
	for !func() bool { mu.Lock(); defer mu.Unlock(); return len(kept) == len(want) }() {
		u.must(u.fr.WritePing(false, [8]byte{}))
		u.read()
	}
	for number, body := range want {
		if !bytes.Equal(kept[number], body) {
			t.Errorf("body %s of %d bytes is another", number, len(body))
		}
	}
}

// TestNotWhole: ReadWhole reads nothing of a body that is too large, of unknown length, or read in
// part, and Read then returns all of it.
func TestNotWhole(t *testing.T) {
	t.Parallel()
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first := make([]byte, 1)
		if r.Header.Get("X-Begin") != "" {
			_, _ = io.ReadFull(r.Body, first)
		} else {
			first = nil
		}
		_, ok, err := readWhole(r)
		rest, failed := io.ReadAll(r.Body)
		_, _ = fmt.Fprint(w, ok, err, failed, len(first)+len(rest))
	}))
	u := newUpload(t, s)
	for name, of := range map[string]struct {
		length int
		fields []string
	}{
		"larger than a frame": {maxFrameBytes + 1, nil},
		"read in part":        {100, []string{"x-begin", "1"}},
	} {
		id := u.post(of.length, of.fields...)
		for left := of.length; left > 0; left -= min(left, maxFrameBytes) {
			u.send(id, min(left, maxFrameBytes), 0)
		}
		u.must(u.fr.WriteData(id, true, nil))
		if a, want := u.await(id), fmt.Sprint(false, nil, nil, of.length); a.body != want {
			t.Errorf("%s: %q, want %q", name, a.body, want)
		}
	}
	id := u.open()
	u.send(id, 100, 0)
	u.must(u.fr.WriteData(id, true, nil))
	if a, want := u.await(id), fmt.Sprint(false, nil, nil, 100); a.body != want {
		t.Errorf("of unknown length: %q, want %q", a.body, want)
	}
}

// TestWholeBodyThatFails: a body that is broken off, or late, is an error, and its memory stays the
// connection's.
func TestWholeBodyThatFails(t *testing.T) {
	t.Parallel()
	got := make(chan error, 1)
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // of wantServed
			return
		}
		if r.Header.Get("X-Late") != "" {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(-time.Second))
		}
		body, ok, err := readWhole(r)
		if body != nil || !ok {
			err = fmt.Errorf("%d bytes, %t, %w", len(body), ok, err)
		}
		got <- err
	}))
	u := newUpload(t, s)
	for _, broken := range []struct {
		name   string
		fields []string
		end    func(id uint32)
		want   func(err error) bool
	}{
		{"late", []string{"x-late", "1"}, func(uint32) {}, func(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }},
		{"reset", nil, func(id uint32) { u.must(u.fr.WriteRSTStream(id, http2.ErrCodeCancel)) }, func(err error) bool { return err != nil }},
		{"short", nil, func(id uint32) { u.must(u.fr.WriteData(id, true, nil)) }, func(err error) bool { return err != nil }},
		{"long", nil, func(id uint32) { u.must(u.fr.WriteData(id, true, make([]byte, 100))) }, func(err error) bool { return err != nil }},
	} {
		id := u.post(100, broken.fields...)
		u.send(id, 50, 0)
		broken.end(id)
		if err := <-got; !broken.want(err) {
			t.Errorf("%s: %v", broken.name, err)
		}
	}
	u.wantServed()
}
