package h2

import (
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/net/http2"
)

// flood calls send n times, or until the server has closed the connection.
func (r *raw) flood(n int, send func() error) {
	r.t.Helper()
	for range n {
		if err := send(); err != nil {
			if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, os.ErrDeadlineExceeded) {
				return
			}
			r.t.Fatal(err)
		}
	}
}

// bounded configures a server for ten streams and short header lists.
func bounded(srv *http.Server) {
	srv.MaxHeaderBytes = 4096
	srv.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 10}
}

func TestLimits(t *testing.T) {
	reg := prometheus.NewRegistry()
	s := startWith(t, basicHandler(), Options{Registerer: reg}, bounded)
	hits := func(t *testing.T, limits ...string) {
		t.Helper()
		got, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		hit := 0.0
		for _, f := range got {
			for _, m := range f.GetMetric() {
				if f.GetName() == "quorate_apiserver_h2_limit_hits_total" && slices.Contains(limits, m.GetLabel()[0].GetValue()) {
					hit += m.GetCounter().GetValue()
				}
			}
		}
		if hit == 0 {
			t.Errorf("none of %v was hit", limits)
		}
	}
	t.Run("streams", func(t *testing.T) {
		r := dialRaw(t, s.addr, s.roots)
		for range 10 {
			r.get("/hang", true)
		}
		r.wantReset(r.get("/", true), http2.ErrCodeRefusedStream)
		r.must(r.fr.WriteRSTStream(1, http2.ErrCodeCancel))
		r.wantServed()
		hits(t, limitStreams)
	})
	t.Run("header_list_over_the_limit_is_431", func(t *testing.T) {
		r := dialRaw(t, s.addr, s.roots)
		id := r.newID()
		r.headers(id, true, ":method", "GET", ":scheme", "https", ":path", "/", "x-long", strings.Repeat("\x7e", 4300))
		if a := r.await(id); a.status != "431" {
			t.Errorf("%+v", a)
		}
		r.wantServed()
		hits(t, limitHeaderList)
	})
	t.Run("header_block_far_over_the_limit", func(t *testing.T) {
		r := dialRaw(t, s.addr, s.roots)
		r.headers(1, true, ":method", "GET", ":scheme", "https", ":path", "/", "x-long", strings.Repeat("\x7e", 9000))
		r.wantEnd(http2.ErrCodeEnhanceYourCalm)
	})
	t.Run("continuations", func(t *testing.T) {
		r := dialRaw(t, s.addr, s.roots)
		r.must(r.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: nil}))
		r.flood(10000, func() error { return r.fr.WriteContinuation(1, false, nil) })
		r.wantEnd(http2.ErrCodeEnhanceYourCalm)
		hits(t, limitContinuations)
	})
	for name, send := range map[string]func(r *raw) error{
		"PING":       func(r *raw) error { return r.fr.WritePing(false, [8]byte{}) },
		"SETTINGS":   func(r *raw) error { return r.fr.WriteSettings() },
		"PRIORITY":   func(r *raw) error { return r.fr.WritePriority(1, http2.PriorityParam{}) },
		"unknown":    func(r *raw) error { return r.fr.WriteRawFrame(0x42, 0, 0, nil) },
		"empty_DATA": func(r *raw) error { return r.fr.WriteData(1, false, nil) },
	} {
		t.Run("flood_of_"+name, func(t *testing.T) {
			r := dialRaw(t, s.addr, s.roots)
			r.get("/hang", false)
			// Read the replies, or they would exhaust their own bound.
			go func() { _, _ = io.Copy(io.Discard, r.nc) }()
			r.flood(100*maxIdleFrames, func() error { return send(r) })
			hits(t, limitIdleFrames, limitControl) // replies may be written too slowly
		})
	}
}

// TestRefusedStreamsDoNotRun: refused streams do not count as running handlers, so the connection
// serves as many requests as before.
func TestRefusedStreamsDoNotRun(t *testing.T) {
	t.Parallel()
	const streams = 10 // of a bounded server
	s := start(t, basicHandler(), bounded)
	r := dialRaw(t, s.addr, s.roots)
	for range streams {
		r.get("/hang", true)
	}
	const refused = handlersPerStream * streams
	for range refused {
		r.wantReset(r.get("/", true), http2.ErrCodeRefusedStream)
	}
	r.must(r.fr.WriteRSTStream(1, http2.ErrCodeCancel))
	if a := r.await(r.get("/", true)); a.status != "200" {
		t.Errorf("after %d refused streams and the end of another the next request gets %+v, want status 200", refused, a)
	}
}

func TestRapidReset(t *testing.T) {
	var running, most atomic.Int64
	release := make(chan struct{})
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			return
		}
		n := running.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		<-release // which ignores its context
		running.Add(-1)
	}), bounded)
	t.Run("handlers_are_bounded_and_the_client_is_cut_off", func(t *testing.T) {
		r := dialRaw(t, s.addr, s.roots)
		go func() { _, _ = io.Copy(io.Discard, r.nc) }()
		block := r.encode(":method", "GET", ":scheme", "https", ":path", "/slow")
		r.flood(100*maxResets, func() error {
			id := r.newID()
			if err := r.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true, EndStream: true}); err != nil {
				return err
			}
			return r.fr.WriteRSTStream(id, http2.ErrCodeCancel)
		})
		close(release)
		if n := most.Load(); n > 10*handlersPerStream {
			t.Errorf("%d handlers at once", n)
		}
	})
	t.Run("resets_made_by_the_server_count_too", func(t *testing.T) {
		s := start(t, basicHandler(), bounded)
		r := dialRaw(t, s.addr, s.roots)
		r.flood(maxResets*10+1, func() error {
			r.get("/hang", false)
			return r.fr.WriteWindowUpdate(r.nextID-2, maxWindow) // a window error
		})
		r.wantEnd(http2.ErrCodeEnhanceYourCalm)
	})
}

// TestQueuedControl: a client that sends frames without reading the replies is disconnected at the
// bound on replies.
func TestQueuedControl(t *testing.T) {
	c := &conn{}
	for i := range maxQueuedControl + 1 {
		if err := c.countReply(); (err != nil) != (i == maxQueuedControl) {
			t.Fatal(i, err)
		}
	}
}

// patience is a timeout that a handshake or a correct client does not reach, even on a busy
// machine.
const patience = 2 * time.Second

func TestTimeouts(t *testing.T) {
	timeouts := func(t *testing.T, change func(*http.Server)) *testServer { return start(t, basicHandler(), change) }
	t.Run("idle", func(t *testing.T) {
		t.Parallel()
		s := timeouts(t, func(srv *http.Server) { srv.IdleTimeout = patience })
		r := dialRaw(t, s.addr, s.roots)
		r.wantServed()
		r.wantEnd(http2.ErrCodeNo)
	})
	t.Run("idle_does_not_count_while_a_stream_is_open", func(t *testing.T) {
		t.Parallel()
		s := timeouts(t, func(srv *http.Server) { srv.IdleTimeout = patience })
		r := dialRaw(t, s.addr, s.roots)
		id := r.get("/", false)
		<-time.After(3 * patience / 2) // the test is that nothing happens meanwhile
		r.must(r.fr.WriteData(id, true, nil))
		if a := r.await(id); a.status != "200" {
			t.Errorf("%+v", a)
		}
	})
	t.Run("greeting", func(t *testing.T) {
		t.Parallel()
		s := timeouts(t, func(srv *http.Server) { srv.ReadHeaderTimeout = patience })
		dialTLS(t, s.addr, s.roots).wantEnd(http2.ErrCodeEnhanceYourCalm)
	})
	t.Run("header_block_that_never_ends", func(t *testing.T) {
		t.Parallel()
		s := timeouts(t, func(srv *http.Server) { srv.ReadHeaderTimeout = patience })
		r := dialRaw(t, s.addr, s.roots)
		r.wantServed()
		r.must(r.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: r.newID(), BlockFragment: nil}))
		r.wantEnd(http2.ErrCodeEnhanceYourCalm)
	})
	t.Run("header_frame_that_never_ends", func(t *testing.T) {
		t.Parallel()
		s := timeouts(t, func(srv *http.Server) { srv.ReadHeaderTimeout = patience })
		r := dialRaw(t, s.addr, s.roots)
		r.wantServed()
		_, err := r.nc.Write(appendFrameHeader(nil, 100, http2.FrameHeaders, 5, r.newID()))
		r.must(err)
		r.wantEnd(http2.ErrCodeEnhanceYourCalm)
	})
	t.Run("dead_peer", func(t *testing.T) {
		t.Parallel()
		s := timeouts(t, func(srv *http.Server) {
			srv.HTTP2 = &http.HTTP2Config{SendPingTimeout: 40 * time.Millisecond, PingTimeout: patience}
		})
		r := dialRaw(t, s.addr, s.roots)
		r.get("/hang", true)
		pings := 0
		for {
			f, err := r.fr.ReadFrame()
			if err != nil {
				break
			}
			if f, ok := f.(*http2.PingFrame); ok && !f.IsAck() {
				pings++
				if pings < 3 {
					r.must(r.fr.WritePing(true, f.Data))
				}
			}
		}
		if pings != 3 {
			t.Errorf("%d pings, want 2 acknowledged and 1 not", pings)
		}
	})
	t.Run("client_that_does_not_read", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		}), func(srv *http.Server) { srv.HTTP2 = &http.HTTP2Config{WriteByteTimeout: 100 * time.Millisecond} })
		r := dialRaw(t, s.addr, s.roots)
		id := r.get("/", true)
		// Writing fails once the server has closed the connection.
		r.until(func() bool { return r.fr.WritePriority(id, http2.PriorityParam{}) != nil })
	})
}
