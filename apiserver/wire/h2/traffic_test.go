package h2

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// pattern returns n bytes that differ by position.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8)
	}
	return b
}

// TestTinyWindows: bodies arrive complete through windows of all sizes that open bit by bit.
func TestTinyWindows(t *testing.T) {
	body := pattern(40_000)
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for b := body; len(b) > 0; {
			n := min(len(b), 1+rand.IntN(20_000))
			if _, err := w.Write(b[:n]); err != nil {
				t.Error(err)
				return
			}
			b = b[n:]
		}
	}))
	r := dialTLS(t, s.addr, s.roots)
	r.handshake(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 7})
	const streams = 5
	got := make(map[uint32]*bytes.Buffer)
	for range streams {
		got[r.get("/", true)] = new(bytes.Buffer)
	}
	for ended, frames := 0, 0; ended < streams; {
		f, ok := r.read().(*http2.DataFrame)
		if !ok {
			continue
		}
		frames++
		n := len(f.Data())
		got[f.StreamID].Write(f.Data())
		if f.StreamEnded() {
			ended++
		}
		if frames == 50 {
			// Open the windows further.
			r.must(r.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1000}))
		}
		if frames == 100 {
			// Some windows become negative.
			r.must(r.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}))
		}
		if n > 0 {
			r.must(r.fr.WriteWindowUpdate(0, uint32(n)))
			if !f.StreamEnded() {
				r.must(r.fr.WriteWindowUpdate(f.StreamID, uint32(n+frames%3)))
			}
		}
		if frames == 150 {
			r.must(r.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 500}))
		}
	}
	for id, b := range got {
		if !bytes.Equal(b.Bytes(), body) {
			t.Errorf("stream %d: %d bytes, or other bytes", id, b.Len())
		}
	}
}

// TestEndWithNegativeWindow: a negative window delays data, but not the end of the stream.
func TestEndWithNegativeWindow(t *testing.T) {
	proceed := make(chan struct{})
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, 1000))
		_ = http.NewResponseController(w).Flush()
		<-proceed
	}))
	r := dialTLS(t, s.addr, s.roots)
	r.handshake()
	id := r.get("/", true)
	for {
		if _, ok := r.read().(*http2.DataFrame); ok {
			break
		}
	}
	r.must(r.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}))
	r.must(r.fr.WritePing(false, [8]byte{}))
	for {
		if f, ok := r.read().(*http2.PingFrame); ok && f.IsAck() {
			break
		}
	}
	proceed <- struct{}{}
	if a := r.await(id); a.wasReset || a.body != "" {
		t.Errorf("%+v", a)
	}
}

// TestSlowReaderDelaysNoOtherStream: responses that wait for the connection's window do not delay
// responses without a body.
func TestSlowReaderDelaysNoOtherStream(t *testing.T) {
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/big" {
			_, _ = w.Write(make([]byte, 10<<20))
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	r := dialTLS(t, s.addr, s.roots)
	// The window of the connection stays at 64 KiB.
	r.handshake(http2.Setting{ID: http2.SettingInitialWindowSize, Val: maxWindow})
	for range 3 {
		r.get("/big", true)
	}
	for range 50 {
		if a := r.await(r.get("/", true)); a.status != "204" {
			t.Fatalf("%+v", a)
		}
	}
}

func TestManyStreams(t *testing.T) {
	event := make(chan struct{})
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		_ = rc.Flush()
		<-event
		for i := range 10 {
			fmt.Fprintf(w, "%d%s;", i, r.URL.Path)
			if err := rc.Flush(); err != nil {
				t.Error(err)
			}
		}
	}), func(srv *http.Server) { srv.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 1000} })
	c := s.client(t)
	var all, ready sync.WaitGroup
	for i := range 1000 {
		ready.Add(1)
		all.Go(func() {
			path := fmt.Sprintf("/%d", i)
			resp, err := c.Get(s.url(path))
			ready.Done()
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			var want strings.Builder
			for n := range 10 {
				fmt.Fprintf(&want, "%d%s;", n, path)
			}
			if b, err := io.ReadAll(resp.Body); err != nil || string(b) != want.String() {
				t.Error(path, err, len(b))
			}
		})
	}
	ready.Wait()
	close(event)
	all.Wait()
}

// until waits up to 20 seconds for a condition.
func (r *raw) until(done func() bool) {
	r.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !done(); <-tick.C {
		if time.Now().After(end) {
			r.t.Fatal("the condition does not hold in time")
		}
	}
}

// TestChaos: concurrent uploads and downloads, some cancelled or aborted, neither hang nor leak,
// and each response has its own bytes.
func TestChaos(t *testing.T) {
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/panic" {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.Copy(w, r.Body)
	}))
	c := s.client(t)
	body := pattern(300_000)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for range 30 {
				want := body[:random.IntN(len(body))]
				path := "/"
				if random.IntN(5) == 0 {
					path = "/panic"
				}
				resp, err := c.Post(s.url(path), "x/y", bytes.NewReader(want))
				if err != nil {
					if path == "/" {
						t.Error(err)
					}
					continue
				}
				if random.IntN(3) == 0 {
					_, _ = io.CopyN(io.Discard, resp.Body, int64(random.IntN(len(want)+1)))
					_ = resp.Body.Close()
					continue
				}
				got, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if err != nil || !bytes.Equal(got, want) {
					t.Error(err, len(got), len(want))
				}
			}
		})
	}
	all.Wait()
}
