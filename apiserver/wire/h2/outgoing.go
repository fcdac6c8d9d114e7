package h2

import (
	"runtime"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// outgoing is what waits to be written on a connection. conn.mu guards it.
type outgoing struct {
	buf   []byte // frames, ready to be written
	spare []byte // the buffer written last
	boxes []*[]byte
	// control counts the frames in buf that answer frames of the client; they don't wait for room.
	control  int
	window   int64 // what the client takes of all streams together
	maxFrame int   // the largest payload that the client takes
	begun    bool  // a header block has been sent
	closed   bool  // the writer has returned: nothing goes out any more

	// Streams with more to send than there was room for, first come first served.
	first, last *stream
	waiters     int

	wake   sync.Cond // the writer's
	asleep bool      // the writer waits for wake
	writes uint64    // writes begun
	busy   bool      // a write is under way
}

// buffers are outgoing buffers of connections with nothing to write.
type buffers struct{ pool sync.Pool }

// take gets a buffer, or nil for a new one to be made. The box it came in is kept, to give one back without an allocation.
func (o *outgoing) take(p *buffers) []byte {
	box, ok := p.pool.Get().(*[]byte)
	if !ok {
		return nil
	}
	b := *box
	*box = nil
	o.boxes = append(o.boxes, box)
	return b[:0]
}

func (o *outgoing) put(p *buffers, b []byte) {
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

// room returns the outgoing buffer to append to. mu is held.
func (c *conn) room() []byte {
	if c.out.buf == nil {
		c.out.buf = c.out.take(&c.server.buffers)
	}
	return c.out.buf
}

// nudge makes the writer look at what there is to write. mu is held.
func (c *conn) nudge() {
	if c.out.asleep {
		c.out.asleep = false
		c.out.wake.Signal()
	}
}

// reply takes room for the answer to a control frame, or says that too many wait already. mu is held.
func (c *conn) reply() error {
	c.out.control++
	if c.out.control > maxQueuedControl {
		return excess(limitControl, "too many frames to answer")
	}
	return nil
}

// advance moves one frame's worth of what a stream has to send into the buffer; it reports whether that was all. mu is held.
func (c *conn) advance(st *stream) (all bool) {
	q := &st.queue
	if q.head != nil {
		b := c.room()
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
	// Windows are negative after a setting has shrunk them (RFC 9113 §6.9.2).
	n := int(max(0, min(int64(len(q.data)), int64(c.out.maxFrame), st.window, c.out.window)))
	if n == 0 && len(q.data) > 0 {
		return false
	}
	all = n == len(q.data)
	c.out.buf = appendData(c.room(), st.id, q.data[:n], all && q.end)
	q.data = q.data[n:]
	st.window -= int64(n)
	c.out.window -= int64(n)
	return all
}

// fill moves what streams wait to send into the buffer, in turn, as far as there is room for it. mu is held.
func (c *conn) fill() {
	for idle := 0; idle < c.out.waiters && len(c.out.buf) < maxQueuedBytes; {
		st := c.out.pop()
		switch {
		case !st.queue.active: // broken off while it waited
		case c.out.window <= 0 && st.queue.needsWindow():
			idle++
			c.out.push(st)
			continue
		case c.advance(st):
			st.sent()
			st.changed.Broadcast()
		case st.window > 0:
			c.out.push(st)
		}
		idle = 0
	}
}

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

// write writes the outgoing buffer until the connection ends. It is the writer goroutine.
func (c *conn) write() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.await() {
		c.mu.Unlock()
		// Whatever is ready to run may have something to add: one write costs as much for many frames as for one.
		runtime.Gosched()
		c.mu.Lock()
		o := &c.out
		buf := o.buf
		o.buf, o.spare, o.control = o.spare, nil, 0
		c.fill()
		err := c.writeOut(buf)
		o.spare = buf[:0]
		if err != nil {
			break
		}
	}
	c.out.closed = true
	c.free()
}

// await waits for something to write; false means that there will be nothing more. mu is held.
func (c *conn) await() bool {
	for len(c.out.buf) == 0 {
		if c.phase >= finishing {
			return false
		}
		c.free()
		c.out.asleep = true
		c.out.wake.Wait()
	}
	return true
}

// free gives back the buffers, so that a connection at rest has none. mu is held.
func (c *conn) free() {
	o := &c.out
	o.put(&c.server.buffers, o.buf)
	o.put(&c.server.buffers, o.spare)
	o.buf, o.spare = nil, nil
	o.boxes = o.boxes[:0] // of buffers that had grown too large to give back
}

// writeOut writes without mu, which is held before and after. When that fails the connection is closed, which the reader sees.
func (c *conn) writeOut(buf []byte) error {
	defer func() { c.out.busy = false }()
	for len(buf) > 0 {
		n := min(len(buf), writeBytes)
		c.out.writes++
		c.out.busy = true
		c.mu.Unlock()
		err := c.writeRecords(buf[:n])
		if err != nil {
			// What the closing says after a failed write is of no use to anybody.
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

// finish says the connection's last words when all before has been written: the writer's last act.
func (c *conn) finish() {
	deadline := time.Now().Add(lingerTime)
	if hc, ok := c.nc.(halfCloser); ok {
		// If this fails there is nobody to tell; the reader closes the connection in any case.
		_ = hc.CloseWrite()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.nc.SetReadDeadline(deadline) // fails only on a closed connection, whose reader returns by itself
	c.lingering = true
}

// goAway announces the end. mu is held.
func (c *conn) goAway(last uint32, code http2.ErrCode) {
	if c.out.closed {
		return
	}
	c.out.buf = appendGoAway(c.room(), last, code)
	c.nudge()
}
