package h2

import (
	"runtime"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// outgoing is the sending side of a connection. conn.mu guards it.
type outgoing struct {
	buf   []byte    // frames, ready to be written
	spare []byte    // the buffer written last, for reuse
	boxes []*[]byte // empty, to return buffers to the pool without an allocation
	// control counts the frames in buf that reply to frames of the client. They may exceed
	// maxQueuedBytes.
	control  int
	window   int64 // the client's window for all streams together
	maxFrame int   // the largest payload to send in one frame
	begun    bool  // a header block has been sent
	closed   bool  // the writer has returned: no more frames are sent

	// A FIFO list of the streams with more to send than the buffer had room for.
	first, last *stream
	waiters     int // its length

	wake   sync.Cond // wakes the writer
	asleep bool      // the writer waits for wake
	writes uint64    // writes begun
	busy   bool      // a write is in progress
}

// buffers is a pool of outgoing buffers. A connection with nothing to write has none.
type buffers struct{ pool sync.Pool }

// getBuffer returns an empty buffer from the pool, or nil if the pool is empty. It keeps the box of
// the buffer for putBuffer.
func (o *outgoing) getBuffer(p *buffers) []byte {
	box, ok := p.pool.Get().(*[]byte)
	if !ok {
		return nil
	}
	b := *box
	*box = nil
	o.boxes = append(o.boxes, box)
	return b[:0]
}

// putBuffer returns a buffer to the pool, unless it has grown too large.
func (o *outgoing) putBuffer(p *buffers, b []byte) {
	if cap(b) == 0 || cap(b) > maxPooledBytes {
		return
	}
	box := new([]byte)
	if n := len(o.boxes); n > 0 {
		box, o.boxes = o.boxes[n-1], o.boxes[:n-1]
	}
	*box = b
	p.pool.Put(box)
}

// outBuffer returns the outgoing buffer, for the caller to append to. mu is held.
func (c *conn) outBuffer() []byte {
	if c.out.buf == nil {
		c.out.buf = c.out.getBuffer(&c.server.buffers)
	}
	return c.out.buf
}

// wakeWriter wakes the writer if it sleeps. Every addition to the outgoing buffer and the end of
// the connection must be followed by a call. mu is held.
func (c *conn) wakeWriter() {
	if c.out.asleep {
		c.out.asleep = false
		c.out.wake.Signal()
	}
}

// countReply counts a frame that replies to the client, and returns an error if too many wait to be
// written. mu is held.
func (c *conn) countReply() error {
	c.out.control++
	if c.out.control > maxQueuedControl {
		return limitExceeded(limitControl, "too many frames to answer")
	}
	return nil
}

// moveFrame moves the header block or one DATA frame of a stream's queue to the outgoing buffer, as
// far as the windows allow. It reports whether the queue is now empty. mu is held.
func (c *conn) moveFrame(st *stream) (all bool) {
	q := &st.queue
	if q.head != nil {
		b := c.outBuffer()
		if !c.out.begun {
			c.out.begun = true
			q.head = append([]byte{noTable}, q.head...)
		}
		c.out.buf = appendHeaders(b, st.id, q.head, q.end && len(q.data) == 0, c.out.maxFrame)
		q.head = nil
		if len(q.data) == 0 {
			return true
		}
	}
	// A window is negative after a setting has shrunk it (RFC 9113 §6.9.2).
	n := int(max(0, min(int64(len(q.data)), int64(c.out.maxFrame), st.window, c.out.window)))
	if n == 0 && len(q.data) > 0 {
		return false
	}
	all = n == len(q.data)
	c.out.buf = appendData(c.outBuffer(), st.id, q.data[:n], all && q.end)
	q.data = q.data[n:]
	st.window -= int64(n)
	c.out.window -= int64(n)
	return all
}

// moveWaiting moves frames of waiting streams to the outgoing buffer, one frame per stream in FIFO
// order, until the buffer is full or the windows are shut. mu is held.
func (c *conn) moveWaiting() {
	for idle := 0; idle < c.out.waiters && len(c.out.buf) < maxQueuedBytes; {
		st := c.out.pop()
		switch {
		case !st.queue.active: // the stream was aborted while it waited
		case c.out.window <= 0 && st.queue.needsWindow():
			idle++
			c.out.push(st)
			continue
		case c.moveFrame(st):
			st.noteSent()
			st.changed.Broadcast()
		case st.window > 0:
			c.out.push(st)
		}
		idle = 0
	}
}

// push appends a stream to the list of waiting ones, unless it is in the list.
func (o *outgoing) push(st *stream) {
	if st.waiting {
		return
	}
	st.waiting, st.next = true, nil
	if o.last == nil {
		o.first = st
	} else {
		o.last.next = st
	}
	o.last = st
	o.waiters++
}

// pop removes and returns the first waiting stream.
func (o *outgoing) pop() *stream {
	st := o.first
	o.first = st.next
	if o.first == nil {
		o.last = nil
	}
	st.waiting, st.next = false, nil
	o.waiters--
	return st
}

// write is the writer goroutine. It writes the outgoing buffer until the connection ends or a write
// fails.
func (c *conn) write() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.awaitOutput() {
		c.letHandlersAdd()
		o := &c.out
		buf := o.buf
		o.buf, o.spare, o.control = o.spare, nil, 0
		c.moveWaiting()
		err := c.writeOut(buf)
		o.spare = buf[:0]
		if err != nil {
			break
		}
	}
	c.out.closed = true
	c.freeBuffers()
}

// letHandlersAdd yields, so that runnable handlers of the connection can add frames to the outgoing
// buffer: one write of many frames costs as much as one of a single frame. If at most one handler
// runs, it does nothing. A goroutine that yields waits behind all runnable goroutines of the
// process, and the response to a client with one request at a time would be delayed for nothing. mu
// is held; letHandlersAdd releases it while it yields.
func (c *conn) letHandlersAdd() {
	if c.running <= 1 {
		return
	}
	c.mu.Unlock()
	runtime.Gosched()
	c.mu.Lock()
}

// awaitOutput waits until the outgoing buffer is not empty. It returns false once the connection is
// finishing and the buffer is empty. mu is held.
func (c *conn) awaitOutput() bool {
	for len(c.out.buf) == 0 {
		if c.phase >= finishing {
			return false
		}
		c.freeBuffers()
		c.out.asleep = true
		c.out.wake.Wait()
	}
	return true
}

// freeBuffers returns the buffers to the pool, so that an idle connection has none. mu is held.
func (c *conn) freeBuffers() {
	o := &c.out
	o.putBuffer(&c.server.buffers, o.buf)
	o.putBuffer(&c.server.buffers, o.spare)
	o.buf, o.spare = nil, nil
	o.boxes = o.boxes[:0] // drops the boxes of buffers that have grown too large
}

// writeOut writes buf. If that fails, it closes the connection, which makes the reader return. mu
// is held; writeOut releases it while it writes.
func (c *conn) writeOut(buf []byte) error {
	defer func() { c.out.busy = false }()
	for len(buf) > 0 {
		n := min(len(buf), writeBytes)
		c.out.writes++
		c.out.busy = true
		c.mu.Unlock()
		err := c.writeRecords(buf[:n])
		if err != nil {
			// After a failed write, an error of closing says nothing new.
			_ = c.nc.Close()
		}
		c.mu.Lock()
		if err != nil {
			return err
		}
		buf = buf[n:]
	}
	return nil
}

// closeWrite ends the sending side of the connection with a TLS close_notify alert and gives the
// client lingerTime to close the connection. It is called when the writer has ended.
func (c *conn) closeWrite() {
	deadline := time.Now().Add(lingerTime)
	if hc, ok := c.nc.(halfCloser); ok {
		// An error changes nothing: the reader closes the connection in any case.
		_ = hc.CloseWrite()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// This fails only on a closed connection, whose reader returns anyway.
	_ = c.nc.SetReadDeadline(deadline)
	c.writeClosed = true
}

// goAway appends a GOAWAY frame to the outgoing buffer. last is the highest stream that the server
// may have handled. mu is held.
func (c *conn) goAway(last uint32, code http2.ErrCode) {
	if c.out.closed {
		return
	}
	c.out.buf = appendGoAway(c.outBuffer(), last, code)
	c.wakeWriter()
}
