package h2

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/net/http2"
)

// takeWhole calls TakeWhole of a request's body.
func takeWhole(r *http.Request) ([]byte, bool) {
	return r.Body.(interface{ TakeWhole() ([]byte, bool) }).TakeWhole()
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

// processed waits until the server has read all frames that were sent.
func (u *upload) processed() {
	u.t.Helper()
	u.must(u.fr.WritePing(false, [8]byte{1}))
	for {
		switch f := u.read().(type) {
		case *http2.PingFrame:
			return
		case *http2.WindowUpdateFrame:
			if f.StreamID == 0 {
				u.conn += int(f.Increment)
			}
		}
	}
}

// TestWholeBodiesAreTheirOwn: handlers keep bodies that arrived in parts, those of one stream
// between those of others, and each has its own when all have ended. The windows regain what was
// taken.
func TestWholeBodiesAreTheirOwn(t *testing.T) {
	t.Parallel()
	const together = 8
	var mu sync.Mutex
	kept := map[string][]byte{}
	arrived := make(chan struct{}, together)
	s := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-arrived
		body, ok := takeWhole(r)
		if _, again := takeWhole(r); !ok || again {
			t.Errorf("a body that has arrived is taken: %t; a second time: %t", ok, again)
		}
		if n, err := r.Body.Read(make([]byte, 1)); n > 0 || err != io.EOF {
			t.Errorf("%d bytes more, %v", n, err)
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
		for range together {
			body := make([]byte, 1+rng.IntN(maxFrameBytes))
			for i := range body {
				body[i] = byte(rng.Uint32())
			}
			number := strconv.Itoa(len(want))
			want[number] = body
			open = append(open, &sending{u.post(len(body), "x-number", number), body})
			total += len(body)
		}
		for len(open) > 0 {
			i := rng.IntN(len(open))
			o := open[i]
			n := min(len(o.left), 1+rng.IntN(maxFrameBytes/2))
			u.reserve(o.id, n)
			u.must(u.fr.WriteData(o.id, n == len(o.left), o.left[:n]))
			if o.left = o.left[n:]; len(o.left) == 0 {
				open = slices.Delete(open, i, i+1)
			}
		}
		u.processed()
		for range together {
			arrived <- struct{}{}
		}
	}
	for !func() bool { mu.Lock(); defer mu.Unlock(); return len(kept) == len(want) }() {
		u.processed()
	}
	for number, body := range want {
		if !bytes.Equal(kept[number], body) {
			t.Errorf("body %s of %d bytes is another", number, len(body))
		}
	}
}

// TestNotWhole: nothing is taken of a body that is too large, of unknown length, incomplete, or
// read in part, and Read then returns all of it.
func TestNotWhole(t *testing.T) {
	t.Parallel()
	proceed := make(chan struct{})
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var first []byte
		if r.Header.Get("X-Begin") != "" {
			first = make([]byte, 1)
			_, _ = io.ReadFull(r.Body, first)
		}
		<-proceed
		body, ok := takeWhole(r)
		proceed <- struct{}{}
		rest, err := io.ReadAll(r.Body)
		_, _ = fmt.Fprint(w, len(body), ok, err, len(first)+len(rest))
	}))
	u := newUpload(t, s)
	for _, of := range []struct {
		name          string
		length, later int // bytes of the body, and of those that arrive after the look at it
		open          func(length int) uint32
	}{
		{"larger than a frame", maxFrameBytes + 1, 0, func(n int) uint32 { return u.post(n) }},
		{"read in part", 100, 0, func(n int) uint32 { return u.post(n, "x-begin", "1") }},
		{"incomplete", maxFrameBytes, 1, func(n int) uint32 { return u.post(n) }},
		{"not there", 100, 100, func(n int) uint32 { return u.post(n) }},
		{"of unknown length", 100, 0, func(int) uint32 { return u.open() }},
	} {
		id := of.open(of.length)
		for left := of.length - of.later; left > 0; left -= min(left, maxFrameBytes) {
			u.send(id, min(left, maxFrameBytes), 0)
		}
		u.processed()
		proceed <- struct{}{}
		<-proceed
		if of.later > 0 {
			u.send(id, of.later, 0)
		}
		u.must(u.fr.WriteData(id, true, nil))
		if a, want := u.await(id), fmt.Sprint(0, false, nil, of.length); a.body != want {
			t.Errorf("%s: %q, want %q", of.name, a.body, want)
		}
	}
}
