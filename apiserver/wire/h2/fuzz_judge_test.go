package h2

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// judge serves one connection and checks everything that the server sends on it: each frame is
// valid in its place, data stays within the windows that the client has granted, and credit stays
// within the data that the client has sent. When the program settles, the connection's streams,
// handlers, unread bodies and queued bytes must be within their bounds. At the end no stream and no
// handler may remain, and the client must have its whole window back.
type judge struct {
	t      *testing.T
	server *server
	conn   *conn
	log    bytes.Buffer // read after the connection has ended

	mu       sync.Mutex
	resumed  sync.Cond // paused has become false
	paused   bool
	streams  map[uint32]*fuzzStream
	last     uint32 // the highest id of them
	window   int64  // granted for the connection
	initial  int64  // the largest initial window announced
	data     int64  // received in all streams
	sent     int64  // in DATA frames, with their padding
	credited int64
}

// fuzzStream is a stream as the client sees it.
type fuzzStream struct {
	granted, data, sent, credited int64
	headers, ended, reset         bool
}

func newJudge(t *testing.T) *judge {
	j := &judge{t: t, window: firstWindow, initial: firstWindow, streams: map[uint32]*fuzzStream{}}
	j.resumed.L = &j.mu
	return j
}

// serve runs the connection, and closes done when it has ended.
func (j *judge) serve(nc net.Conn, done chan<- struct{}) {
	srv := &http.Server{
		MaxHeaderBytes: 4096, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 5, MaxReceiveBufferPerConnection: 1 << 17, MaxReceiveBufferPerStream: 1 << 15,
			SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second,
		},
		ErrorLog: log.New(&j.log, "", 0),
	}
	j.server = &server{http: srv, bounds: newBounds(srv, Options{}), metrics: newMetrics(nil), conns: make(map[*conn]struct{})}
	j.conn = newConn(j.server, context.Background(), nc, nil, http.HandlerFunc(fuzzHandler))
	go func() {
		defer close(done)
		j.server.serve(j.conn)
	}()
}

// read judges the frames of the server until the connection ends.
func (j *judge) read(nc net.Conn) {
	fr := http2.NewFramer(nil, nc)
	fr.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	for {
		j.mu.Lock()
		for j.paused {
			j.resumed.Wait()
		}
		j.mu.Unlock()
		f, err := fr.ReadFrame()
		if err != nil {
			// The connection may end within a frame, when the client has not taken it in time.
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.ErrClosedPipe) {
				j.t.Errorf("the server sent an invalid frame: %v, %v", err, fr.ErrorDetail())
			}
			// A server that is in the middle of a write needs a reader to notice its timeouts.
			return
		}
		j.frame(f)
	}
}

func (j *judge) frame(f http2.Frame) {
	j.mu.Lock()
	defer j.mu.Unlock()
	id := f.Header().StreamID
	st := j.streams[id]
	if _, reset := f.(*http2.RSTStreamFrame); reset && st == nil && id < j.last {
		return // of a stream that the client has skipped, which is closed by that (RFC 9113 §5.1.1)
	}
	if id != 0 && st == nil {
		j.t.Errorf("a frame of stream %d, which was not opened: %v", id, f)
		return
	}
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		informational := f.PseudoValue("status") < "200"
		if st.ended || st.reset || st.headers && informational || informational && f.StreamEnded() {
			j.t.Errorf("header out of place on stream %d: %v", id, f)
		}
		st.headers = st.headers || !informational
		st.ended = f.StreamEnded()
	case *http2.DataFrame:
		if !st.headers || st.ended || st.reset {
			j.t.Errorf("data out of place on stream %d: %v", id, f)
		}
		st.ended = f.StreamEnded()
		st.data += int64(f.Length)
		j.data += int64(f.Length)
		if st.data > j.initial+st.granted {
			j.t.Errorf("stream %d: %d bytes, %d granted", id, st.data, j.initial+st.granted)
		}
		if j.data > j.window {
			j.t.Errorf("%d bytes on the connection, %d granted", j.data, j.window)
		}
	case *http2.RSTStreamFrame:
		st.reset = true // each further frame of the client may be answered by another one
	case *http2.WindowUpdateFrame:
		if id == 0 {
			j.credited += int64(f.Increment)
			if first := int64(j.server.bounds.connWindow) - firstWindow; j.credited > first+j.sent {
				j.t.Errorf("%d bytes are credited to the connection, which sent %d", j.credited-first, j.sent)
			}
			return
		}
		st.credited += int64(f.Increment)
		if st.credited > st.sent {
			j.t.Errorf("%d bytes are credited to stream %d, which sent %d", st.credited, id, st.sent)
		}
	case *http2.SettingsFrame, *http2.PingFrame, *http2.GoAwayFrame:
		if id != 0 {
			j.t.Errorf("a frame of the connection on stream %d: %v", id, f)
		}
	default:
		j.t.Errorf("a frame that servers do not send: %v", f)
	}
}

// The client calls these before it sends a frame.

func (j *judge) opened(id uint32) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last = max(j.last, id)
	if j.streams[id] == nil {
		j.streams[id] = &fuzzStream{}
	}
}

func (j *judge) sentData(id uint32, length int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sent += int64(length)
	if st := j.streams[id]; st != nil {
		st.sent += int64(length)
	}
}

func (j *judge) granted(id, more uint32) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if id == 0 {
		j.window += int64(more)
	} else if st := j.streams[id]; st != nil {
		st.granted += int64(more)
	}
}

func (j *judge) allowed(window uint32) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.initial = max(j.initial, int64(window))
}

func (j *judge) pause(on bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.paused = on
	if !on {
		j.resumed.Broadcast()
	}
}

// check waits until nothing moves any more, and checks what the connection holds.
func (j *judge) check() {
	j.t.Helper()
	synctest.Wait()
	c := j.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	b := &j.server.bounds
	if len(c.streams.open) > b.maxStreams || c.running > b.maxHandlers || c.running < 0 {
		j.t.Errorf("%d streams are open and %d handlers run", len(c.streams.open), c.running)
	}
	if bound := maxQueuedBytes + 2*maxFrameBytes + maxQueuedControl*20; len(c.out.buf) > bound {
		j.t.Errorf("%d bytes wait to be sent, want at most %d", len(c.out.buf), bound)
	}
	held := int64(c.window.left) + int64(c.window.uncredited)
	for _, st := range c.streams.open {
		held += int64(st.body.unread())
		if st.body.unread() > int(b.streamWindow) {
			j.t.Errorf("stream %d holds %d bytes of its body", st.id, st.body.unread())
		}
	}
	if held > int64(b.connWindow) {
		j.t.Errorf("the connection's window and unread bodies are %d bytes, want at most %d", held, b.connWindow)
	}
}

// settle ends what the program has left open, and expects the whole window back.
func (j *judge) settle(c *fuzzClient) {
	j.t.Helper()
	j.pause(false)
	time.Sleep(resetPeriod) // the client may reset streams again
	c.check()
	for _, id := range c.ids {
		c.frame(func() error { return c.fr.WriteRSTStream(id, http2.ErrCodeCancel) })
	}
	time.Sleep(resetPeriod) // for handlers that sleep
	c.check()
	j.conn.mu.Lock()
	defer j.conn.mu.Unlock()
	if j.conn.phase >= finishing || j.conn.out.closed || c.closed {
		return
	}
	if n := len(j.conn.streams.open); n > 0 || j.conn.running > 0 {
		j.t.Errorf("%d streams are open and %d handlers run after all were reset", n, j.conn.running)
	}
	if w := j.conn.window; w.left+w.uncredited != j.server.bounds.connWindow {
		j.t.Errorf("the connection's window is %d bytes and %d are to be credited, want %d together",
			w.left, w.uncredited, j.server.bounds.connWindow)
	}
}

// ended checks what a connection leaves behind.
func (j *judge) ended() {
	if bytes.Contains(j.log.Bytes(), []byte("panic")) {
		j.t.Errorf("a panic: %s", &j.log)
	}
	if len(j.server.conns) != 0 || j.conn.running != 0 || len(j.conn.streams.open) != 0 {
		j.t.Errorf("left over: %d connections, %d handlers, %d streams", len(j.server.conns), j.conn.running, len(j.conn.streams.open))
	}
}
