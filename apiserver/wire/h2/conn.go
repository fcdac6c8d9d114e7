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

// phase is how far a connection's life has come.
type phase uint8

const (
	serving   phase = iota
	announced       // the client knows that the end is near; what is on its way is served
	draining        // no new streams
	finishing       // nothing is added; the writer writes what there is
)

// conn is one HTTP/2 connection.
type conn struct {
	server   *server
	nc       net.Conn
	below    *Below // what TLS lies on; nil when that is another's
	handler  http.Handler
	template *http.Request // what is the same in all requests; its context is the connection's
	in       incoming      // the reader's alone
	handlers sync.WaitGroup

	mu        sync.Mutex // guards what follows
	out       outgoing
	window    window // of all request bodies together
	streams   streams
	running   int // handlers
	phase     phase
	lingering bool   // the last words are written
	drainPing bool   // sent with the announcement of the end
	opened    uint64 // streams ever, for the idle timeout
}

// streams are the open streams of a connection. conn.mu guards them.
type streams struct {
	open      map[uint32]*stream
	last      uint32 // the highest that the client has begun
	window    int64  // what the client takes of a new stream
	recent    [recentStreams]uint32
	nextSpare int // in recent
}

func newConn(s *server, ctx context.Context, nc net.Conn, state *tls.ConnectionState, h http.Handler) *conn {
	c := &conn{
		server:  s,
		nc:      nc,
		below:   belowOf(nc),
		handler: h,
		window:  newWindow(max(s.bounds.connWindow, firstWindow), s.bounds.connWindow/4),
		streams: streams{open: make(map[uint32]*stream), window: firstWindow},
		out:     outgoing{window: firstWindow, maxFrame: maxFrameBytes},
	}
	c.template = (&http.Request{
		Proto:      "HTTP/2.0",
		ProtoMajor: 2,
		RemoteAddr: nc.RemoteAddr().String(),
		TLS:        state,
	}).WithContext(ctx)
	c.out.wake.L = &c.mu
	c.in.init(c)
	c.greet()
	return c
}

// serve returns when the connection and all that belongs to it has ended.
func (c *conn) serve() {
	var writer sync.WaitGroup
	writer.Go(func() {
		defer c.caught("writing to", nil)
		c.write()
		c.finish()
	})
	err := c.read()
	c.conclude(err)
	writer.Wait()
	c.linger(err)
	_ = c.nc.Close() // nothing depends on what it says
	c.handlers.Wait()
}

func (c *conn) read() (err error) {
	defer c.caught("reading from", &err)
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
		if err := c.next(); err != nil {
			return err
		}
	}
}

// caught keeps a bug of ours from ending more than the connection it shows on.
func (c *conn) caught(doing string, err *error) {
	reason := recover()
	if reason == nil {
		return
	}
	c.server.logf("http2: panic %s %v: %v\n%s", doing, c.nc.RemoteAddr(), reason, debug.Stack())
	if err != nil {
		*err = &connFault{code: http2.ErrCodeInternal, why: "panic"}
		return
	}
	_ = c.nc.Close() // the reader ends by it
}

// greet puts our settings first of all that is sent.
func (c *conn) greet() {
	b := &c.server.bounds
	c.out.buf = appendSettings(c.room(),
		http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: uint32(b.maxStreams)},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: uint32(b.streamWindow)},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: b.maxHeaderList},
		http2.Setting{ID: http2.SettingNoRFC7540Priorities, Val: 1},
	)
	if more := b.connWindow - firstWindow; more > 0 {
		c.out.buf = appendWindowUpdate(c.out.buf, 0, more)
	}
}

// conclude ends all streams and has the writer write the last.
func (c *conn) conclude(err error) {
	var fault *connFault
	if errors.As(err, &fault) {
		c.note(fault)
	}
	c.mu.Lock()
	if fault != nil {
		c.goAway(c.streams.last, fault.code)
	}
	c.phase = finishing
	open := make([]*stream, 0, len(c.streams.open))
	for _, st := range c.streams.open {
		open = append(open, st)
		st.breakOff(errGone, false)
	}
	c.nudge()
	c.mu.Unlock()
	for _, st := range open {
		st.cancel()
	}
	// A client that doesn't read keeps the writer no longer than this; an error means that it is not kept at all.
	_ = c.nc.SetWriteDeadline(time.Now().Add(lingerTime))
}

func (c *conn) note(f *connFault) {
	m := c.server.metrics
	m.faults.WithLabelValues("connection", f.code.String()).Inc()
	if f.limit != "" {
		m.hit(f.limit)
	}
	c.server.logf("http2: connection from %v broken off: %v", c.nc.RemoteAddr(), f)
}

// linger reads what the client still sends when it was cut off: closing at once would destroy our last words on their way.
func (c *conn) linger(err error) {
	var fault *connFault
	if !errors.As(err, &fault) {
		return
	}
	// The deadline that finish has set ends it, or the client does.
	_, _ = io.Copy(io.Discard, c.nc)
}

// drain announces the connection's end: what is under way is finished, new requests are to go elsewhere.
func (c *conn) drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase != serving {
		return
	}
	c.phase = announced
	c.drainPing = true
	// Requests may be on their way. The answer to the ping says that the client has heard, and so that no more will come.
	c.goAway(maxWindow, http2.ErrCodeNo)
	c.out.buf = appendPing(c.room(), drainPing(), false)
	// A client that doesn't answer is not waited for.
	_ = c.nc.SetReadDeadline(time.Now().Add(lingerTime))
}

// seal refuses new streams. mu is held.
func (c *conn) seal() {
	if c.phase >= draining {
		return
	}
	c.phase = draining
	c.drainPing = false
	c.goAway(c.streams.last, http2.ErrCodeNo)
	c.rest()
}

// rest ends a draining connection that has no streams. mu is held.
func (c *conn) rest() {
	if c.phase == draining && len(c.streams.open) == 0 {
		c.phase = finishing
		c.nudge()
	}
}

// forget takes a stream that has ended off the list. mu is held.
func (c *conn) forget(st *stream, byUs bool) {
	s := &c.streams
	if s.open[st.id] != st {
		return
	}
	delete(s.open, st.id)
	s.remember(st.id, byUs)
	c.rest()
}

// remember notes a closed stream; of one that we have closed, frames may be on their way.
func (s *streams) remember(id uint32, byUs bool) {
	mark := id << 1
	if byUs {
		mark |= 1
	}
	s.recent[s.nextSpare] = mark
	s.nextSpare = (s.nextSpare + 1) % recentStreams
}

// recall reports whether a stream has closed lately, and whether we did it.
func (s *streams) recall(id uint32) (known, byUs bool) {
	for _, mark := range s.recent {
		if mark>>1 == id {
			return true, mark&1 == 1
		}
	}
	return false, false
}

func drainPing() [8]byte { return [8]byte{'d', 'r', 'a', 'i', 'n'} }

func alivePing() [8]byte { return [8]byte{'a', 'l', 'i', 'v', 'e'} }
