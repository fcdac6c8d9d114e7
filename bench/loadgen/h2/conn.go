package h2

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	receiveWindow   = 256 << 20 // bytes of a response, and of all of a connection, that a server may send ahead
	specifiedWindow = 65535     // of both, unless a peer says otherwise (RFC 9113 §6.9.2)
	specifiedFrame  = 16 << 10  // longest payload of a frame, unless the server says otherwise (§6.5.2)
	tableSize       = 4 << 10   // of compressed headers in both directions (§6.5.2)
	requestsAtOnce  = 100       // until the server has said what it allows
	bufferSize      = 32 << 10
)

var (
	errGoAway  = errors.New("the server sent GOAWAY")
	errRefused = errors.New("the server refuses the request")
)

// conn is one connection.
type conn struct {
	scheme, authority string
	net               net.Conn
	ended             chan struct{} // closed when nothing reads from it any more

	writers atomic.Int32 // that write or wait for it: the last one flushes
	write   sync.Mutex
	out     *bufio.Writer
	frames  *http2.Framer // for writes by who holds write, for reads by the reading goroutine
	encoder *hpack.Encoder
	block   bytes.Buffer // where the encoder writes

	mu       sync.Mutex
	grown    sync.Cond // a window has grown, or err is set
	err      error     // why the connection has ended
	leaving  bool      // after GOAWAY
	reserved int       // requests that run, or are about to
	allowed  int       // of them
	next     uint32    // stream
	calls    map[uint32]*call
	window   int64 // bytes that may be sent on all streams
	initial  int64 // and on a new one
	maxFrame int64
}

// call is a request that waits for its response. The fields are guarded by the connection's mu
// until done has a value.
type call struct {
	Response
	window int64
	over   bool
	done   chan error // has room for one
}

func newConn(nc net.Conn, scheme, authority string) (*conn, error) {
	c := &conn{
		scheme: scheme, authority: authority, net: nc, ended: make(chan struct{}), out: bufio.NewWriterSize(nc, bufferSize),
		allowed: requestsAtOnce, next: 1, calls: map[uint32]*call{},
		window: specifiedWindow, initial: specifiedWindow, maxFrame: specifiedFrame,
	}
	c.grown.L = &c.mu
	c.frames = http2.NewFramer(c.out, bufio.NewReaderSize(nc, bufferSize))
	c.frames.SetReuseFrames()
	c.encoder = hpack.NewEncoder(&c.block)
	err := c.writing(func() error {
		_, err := c.out.WriteString(http2.ClientPreface)
		return errors.Join(err,
			c.frames.WriteSettings(http2.Setting{ID: http2.SettingEnablePush}, http2.Setting{ID: http2.SettingInitialWindowSize, Val: receiveWindow}),
			c.frames.WriteWindowUpdate(0, receiveWindow-specifiedWindow))
	})
	if err != nil {
		return nil, errors.Join(err, nc.Close())
	}
	go c.read()
	return c, nil
}

// reserve says whether the connection can still be used, and counts one more request if wanted and
// allowed.
func (c *conn) reserve(wanted bool) (usable, reserved bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.leaving {
		return false, false
	}
	if !wanted || c.reserved >= c.allowed {
		return true, false
	}
	c.reserved++
	return true, true
}

func (c *conn) release() {
	c.mu.Lock()
	c.reserved--
	c.mu.Unlock()
}

// fail ends the connection and all requests on it. The first reason counts.
func (c *conn) fail(err error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = err
		for id := range c.calls {
			c.end(id, err)
		}
	}
	c.mu.Unlock()
	c.net.Close() // whose error would only say that it has ended already
}

// end gives the caller of a stream its result. The caller of end holds mu.
func (c *conn) end(id uint32, err error) {
	call := c.calls[id]
	if call == nil {
		return
	}
	delete(c.calls, id)
	call.over = true
	call.done <- err
	c.grown.Broadcast()
	if c.leaving && len(c.calls) == 0 {
		c.net.Close()
	}
}

// writing runs write, which writes frames, and sends them together with those of others that wait.
func (c *conn) writing(write func() error) error {
	c.writers.Add(1)
	c.write.Lock()
	defer c.write.Unlock()
	err := write()
	if c.writers.Add(-1) == 0 && err == nil {
		err = c.out.Flush()
	}
	return err
}

func (c *conn) do(ctx context.Context, r *Request, into []byte) (Response, error) {
	call := &call{Response: Response{Body: into}, done: make(chan error, 1)}
	id, err := c.send(ctx, call, r)
	if err != nil {
		return Response{Body: into}, err
	}
	select {
	case err := <-call.done:
		return call.Response, err
	case <-ctx.Done():
		return Response{Body: into}, c.cancel(id, ctx.Err())
	}
}

// cancel ends a request that its caller does not wait for any more, and returns the reason.
func (c *conn) cancel(id uint32, reason error) error {
	c.mu.Lock()
	c.end(id, reason)
	c.mu.Unlock()
	if err := c.writing(func() error { return c.frames.WriteRSTStream(id, http2.ErrCodeCancel) }); err != nil {
		c.fail(err)
	}
	return reason
}

// send writes a request, and waits for the server's window as often as the body needs it.
func (c *conn) send(ctx context.Context, call *call, r *Request) (id uint32, err error) {
	rest := r.Body
	var refused error
	err = c.writing(func() error {
		if id, refused = c.open(call); refused != nil {
			return nil
		}
		c.encode(r)
		err := c.frames.WriteHeaders(http2.HeadersFrameParam{
			StreamID: id, BlockFragment: c.block.Bytes(), EndHeaders: true, EndStream: len(rest) == 0,
		})
		for n := c.take(call, len(rest)); n > 0 && err == nil; n = c.take(call, len(rest)) {
			err = c.frames.WriteData(id, n == len(rest), rest[:n])
			rest = rest[n:]
		}
		return err
	})
	if refused != nil {
		return 0, refused
	}
	if err == nil && len(rest) > 0 {
		err = c.sendRest(ctx, call, id, rest)
	}
	if err != nil && ctx.Err() != nil {
		return id, c.cancel(id, err)
	}
	if err != nil {
		c.fail(err)
	}
	return id, err
}

// sendRest sends what the windows had no room for. If the server responds before, it ends the request
// without the rest.
func (c *conn) sendRest(ctx context.Context, call *call, id uint32, rest []byte) error {
	stop := context.AfterFunc(ctx, func() {
		c.mu.Lock() // so that who waits has seen the context's end, or is woken
		defer c.mu.Unlock()
		c.grown.Broadcast()
	})
	defer stop()
	for len(rest) > 0 {
		n, err := c.await(ctx, call, len(rest))
		if err != nil {
			return err
		}
		if n == 0 {
			return c.writing(func() error { return c.frames.WriteRSTStream(id, http2.ErrCodeNo) })
		}
		if err := c.writing(func() error { return c.frames.WriteData(id, n == len(rest), rest[:n]) }); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// open gives a call the next stream.
func (c *conn) open(call *call) (uint32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	if c.leaving {
		return 0, errGoAway
	}
	if len(c.calls) >= c.allowed { // the server's settings have arrived since the call was reserved
		return 0, errRefused
	}
	id := c.next
	c.next += 2
	call.window = c.initial
	c.calls[id] = call
	return id, nil
}

// encode leaves the compressed headers of a request in block.
func (c *conn) encode(r *Request) {
	c.block.Reset()
	field := func(name, value string) {
		c.encoder.WriteField(hpack.HeaderField{Name: name, Value: value}) // to a bytes.Buffer, which never fails
	}
	field(":authority", c.authority)
	field(":method", r.Method)
	field(":path", r.Path)
	field(":scheme", c.scheme)
	for _, h := range r.Header {
		field(h[0], h[1])
	}
	if r.Body != nil {
		field("content-length", fmt.Sprint(len(r.Body)))
	}
}

// take reserves up to n bytes of the windows for one frame.
func (c *conn) take(call *call, n int) int {
	if n == 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.takeLocked(call, n)
}

func (c *conn) takeLocked(call *call, n int) int {
	got := max(0, min(int64(n), c.window, call.window, c.maxFrame))
	c.window -= got
	call.window -= got
	return int(got)
}

// await is take, but waits until there is something to take. It takes nothing if the call is over:
// then nobody reads the rest.
func (c *conn) await(ctx context.Context, call *call, n int) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil || call.over {
			return 0, err
		}
		if got := c.takeLocked(call, n); got > 0 {
			return got, nil
		}
		c.grown.Wait()
	}
}
