package h2

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// phase is the stage of a connection's life. Phases only advance.
type phase uint8

const (
	serving   phase = iota
	announced       // GOAWAY was sent, but requests that cross it are served
	draining        // new streams are refused
	finishing       // the writer writes the queued frames and stops
)

// conn is one HTTP/2 connection.
type conn struct {
	server     *server
	nc         net.Conn
	coalescing *CoalescingConn // the connection below TLS, or nil if it is of another type
	handler    http.Handler
	template   *http.Request // the fields that all requests share; its context is the connection's
	in         incoming      // used by the reader only
	handlers   sync.WaitGroup

	mu          sync.Mutex // guards the fields below
	out         outgoing
	window      window // for all request bodies together
	streams     streams
	running     int // handlers that have not returned
	phase       phase
	writeClosed bool   // the writer has written the last frame
	drainPing   bool   // a PING was sent with the first GOAWAY and is not acknowledged
	opened      uint64 // number of streams opened so far, for the idle timeout
}

// streams holds the open and the recently closed streams of a connection. conn.mu guards it.
type streams struct {
	open      map[uint32]*stream
	last      uint32                // the highest id that the client has used
	window    int64                 // the client's initial window for new streams
	recent    [recentStreams]uint32 // closed streams: id<<1, plus 1 if closed by the server
	nextSpare int                   // index in recent
}

// newConn returns a connection with the server's settings in its outgoing buffer.
func newConn(s *server, ctx context.Context, nc net.Conn, state *tls.ConnectionState, h http.Handler) *conn {
	c := &conn{
		server:     s,
		nc:         nc,
		coalescing: coalescingConnOf(nc),
		handler:    h,
		window:     newWindow(max(s.bounds.connWindow, firstWindow), s.bounds.connWindow/4),
		streams:    streams{open: make(map[uint32]*stream), window: firstWindow},
		out:        outgoing{window: firstWindow, maxFrame: maxFrameBytes},
	}
	c.template = (&http.Request{
		Proto:      "HTTP/2.0",
		ProtoMajor: 2,
		RemoteAddr: nc.RemoteAddr().String(),
		TLS:        state,
	}).WithContext(ctx)
	c.out.wake.L = &c.mu
	c.in.init(c)
	c.sendSettings()
	return c
}

// serve serves the connection and returns after the connection is closed and its writer and all of
// its handlers have returned.
func (c *conn) serve() {
	defer context.AfterFunc(c.template.Context(), c.cancelOpen)()
	var writer sync.WaitGroup
	writer.Go(func() {
		defer c.recoverPanic("writing to", nil)
		c.write()
		c.closeWrite()
	})
	err := c.read()
	c.shutdown(err)
	writer.Wait()
	c.linger(err)
	_ = c.nc.Close() // an error changes nothing: the connection has ended
	c.handlers.Wait()
}

// cancelOpen ends the contexts of all requests.
func (c *conn) cancelOpen() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, st := range c.streams.open {
		st.cancel()
	}
}

// read handles the client's frames until the connection ends, and returns the reason.
func (c *conn) read() (err error) {
	defer c.recoverPanic("reading from", &err)
	if err := c.nc.SetReadDeadline(time.Now().Add(c.server.bounds.tick)); err != nil {
		return err
	}
	if state := c.template.TLS; state != nil && !adequate(state) {
		return &connFault{code: http2.ErrCodeInadequateSecurity, why: "TLS version or cipher suite not allowed"}
	}
	if err := c.in.preface(); err != nil {
		return err
	}
	for {
		if err := c.handleNext(); err != nil {
			return err
		}
	}
}

// recoverPanic limits the effect of a bug to its connection: it recovers a panic of the calling
// goroutine, logs it, and sets err, or closes the connection if err is nil.
func (c *conn) recoverPanic(doing string, err *error) {
	reason := recover()
	if reason == nil {
		return
	}
	c.server.logf("http2: panic %s %v: %v\n%s", doing, c.nc.RemoteAddr(), reason, debug.Stack())
	if err != nil {
		*err = &connFault{code: http2.ErrCodeInternal, why: "panic"}
		return
	}
	_ = c.nc.Close() // so that the reader returns
}

// sendSettings appends the server's settings, the first frame of the connection, to the outgoing
// buffer.
func (c *conn) sendSettings() {
	b := &c.server.bounds
	c.out.buf = appendSettings(c.outBuffer(),
		http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: uint32(b.maxStreams)},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: uint32(b.streamWindow)},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: b.maxHeaderList},
		http2.Setting{ID: http2.SettingNoRFC7540Priorities, Val: 1},
	)
	if more := b.connWindow - firstWindow; more > 0 {
		c.out.buf = appendWindowUpdate(c.out.buf, 0, more)
	}
}

// shutdown aborts all streams and makes the writer stop after the queued frames. If err is a
// connection error, shutdown also sends GOAWAY.
func (c *conn) shutdown(err error) {
	var fault *connFault
	if errors.As(err, &fault) {
		c.reportFault(fault)
	}
	c.mu.Lock()
	if fault != nil {
		c.goAway(c.streams.last, fault.code)
	}
	c.phase = finishing
	for _, st := range c.streams.open {
		st.abort(errConnClosed, false)
	}
	c.wakeWriter()
	c.mu.Unlock()
	// The writer blocks no longer than this on a client that doesn't read. An error means that the
	// connection is closed already.
	_ = c.nc.SetWriteDeadline(time.Now().Add(lingerTime))
}

// reportFault counts and logs a connection error.
func (c *conn) reportFault(f *connFault) {
	m := c.server.metrics
	m.faults.WithLabelValues("connection", f.code.String()).Inc()
	if f.limit != "" {
		m.hit(f.limit)
	}
	c.server.logf("http2: closing connection from %v: %v", c.nc.RemoteAddr(), f)
}

// linger discards what the client still sends after a connection error. Closing a socket with
// unread data resets the connection, and the reset could discard the GOAWAY frame before the client
// reads it.
func (c *conn) linger(err error) {
	var fault *connFault
	if !errors.As(err, &fault) {
		return
	}
	// The copy ends when the client closes, or at the read deadline that closeWrite has set.
	_, _ = io.Copy(io.Discard, c.nc)
}

// drain begins a graceful shutdown: it tells the client to open no more streams on this connection.
// Open streams continue.
func (c *conn) drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase != serving {
		return
	}
	c.phase = announced
	c.drainPing = true
	// Requests may cross this GOAWAY, so it refuses none of them. Once the client acknowledges the
	// PING, it has seen the GOAWAY and opens no more streams.
	c.goAway(maxWindow, http2.ErrCodeNo)
	c.out.buf = appendPing(c.outBuffer(), drainPing(), false)
	// If the client does not acknowledge in time, tick begins draining.
	_ = c.nc.SetReadDeadline(time.Now().Add(lingerTime))
}

// beginDraining makes the connection refuse new streams, and ends it once no stream is open. mu is
// held.
func (c *conn) beginDraining() {
	if c.phase >= draining {
		return
	}
	c.phase = draining
	c.drainPing = false
	c.goAway(c.streams.last, http2.ErrCodeNo)
	c.finishIfIdle()
}

// finishIfIdle ends a draining connection that has no open stream. mu is held.
func (c *conn) finishIfIdle() {
	if c.phase == draining && len(c.streams.open) == 0 {
		c.phase = finishing
		c.wakeWriter()
	}
}

// removeStream removes a stream that has ended from the open ones. mu is held.
func (c *conn) removeStream(st *stream, byServer bool) {
	s := &c.streams
	if s.open[st.id] != st {
		return
	}
	delete(s.open, st.id)
	s.rememberClosed(st.id, byServer)
	c.finishIfIdle()
}

// rememberClosed records a closed stream and whether the server closed it: frames of such a stream
// may still arrive.
func (s *streams) rememberClosed(id uint32, byServer bool) {
	mark := id << 1
	if byServer {
		mark |= 1
	}
	s.recent[s.nextSpare] = mark
	s.nextSpare = (s.nextSpare + 1) % recentStreams
}

// recallClosed reports whether a stream has closed recently, and whether the server closed it.
func (s *streams) recallClosed(id uint32) (known, byServer bool) {
	for _, mark := range s.recent {
		if mark>>1 == id {
			return true, mark&1 == 1
		}
	}
	return false, false
}

// drainPing returns the payload of the PING that follows the first GOAWAY.
func drainPing() [8]byte { return [8]byte{'d', 'r', 'a', 'i', 'n'} }

// alivePing returns the payload of the PING that checks an idle client.
func alivePing() [8]byte { return [8]byte{'a', 'l', 'i', 'v', 'e'} }
