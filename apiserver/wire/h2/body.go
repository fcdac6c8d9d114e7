package h2

import (
	"io"
	"net/http"
	"os"

	"golang.org/x/net/http2"
)

// window is how much the client may send. Room is given back in portions, to spare frames.
type window struct {
	left     int32 // what the client may still send
	returned int32 // read, but not told yet
	portion  int32
}

func newWindow(size, portion int32) window { return window{left: size, portion: portion} }

func (w *window) take(n int32) bool {
	if n > w.left {
		return false
	}
	w.left -= n
	return true
}

// give returns what to tell the client, 0 for nothing yet.
func (w *window) give(n int32) int32 {
	w.returned += n
	if w.returned < w.portion {
		return 0
	}
	n = w.returned
	w.left += n
	w.returned = 0
	return n
}

// body is what has come of a request's body. conn.mu guards it.
type body struct {
	buf       []byte
	off       int   // read up to here
	announced int64 // -1 for unknown
	got       int64
	err       error // what follows the last byte
	closed    bool
	awaited   bool // the client waits for "100 Continue"
	window    window
}

func (b *body) unread() int { return len(b.buf) - b.off }

// add takes data in.
func (b *body) add(data []byte) {
	if b.off > 0 && b.off >= len(b.buf)/2 && len(b.buf)+len(data) > cap(b.buf) {
		b.buf = b.buf[:copy(b.buf, b.buf[b.off:])]
		b.off = 0
	}
	if b.buf == nil && b.announced > 0 {
		b.buf = make([]byte, 0, min(b.announced, maxFrameBytes)) // more only when it has come
	}
	b.buf = append(b.buf, data...)
}

func (b *body) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// discard drops what has not been read and returns how much that was.
func (b *body) discard() int {
	n := b.unread()
	b.closed = true
	b.buf, b.off = nil, 0
	return n
}

// requestBody is a body as handlers see it.
type requestBody struct{ st *stream }

// Read implements io.Reader.
func (r requestBody) Read(p []byte) (int, error) {
	st := r.st
	c := st.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	b := &st.body
	if b.awaited {
		b.awaited = false
		c.sayContinue(st)
	}
	for {
		switch {
		case b.closed:
			return 0, http.ErrBodyReadAfterClose
		case b.unread() > 0:
			return st.take(p), nil
		case b.err != nil:
			return 0, b.err
		case len(p) == 0:
			return 0, nil
		}
		if !st.sleep(&st.readBy) {
			return 0, os.ErrDeadlineExceeded
		}
	}
}

// take copies what there is and lets the client send as much again. mu is held.
func (st *stream) take(p []byte) int {
	b := &st.body
	n := copy(p, b.buf[b.off:])
	b.off += n
	if b.unread() == 0 {
		b.buf, b.off = b.buf[:0], 0
		if b.err != nil {
			b.buf = nil
		}
	}
	st.conn.give(st, n)
	return n
}

// Close implements io.Closer.
func (r requestBody) Close() error {
	c := r.st.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	c.give(nil, r.st.body.discard())
	return nil
}

// give returns room to the client: the connection's, and the stream's if one is named. mu is held.
func (c *conn) give(st *stream, n int) {
	if n == 0 || c.out.closed {
		return
	}
	if more := c.window.give(int32(n)); more > 0 {
		c.out.buf = appendWindowUpdate(c.room(), 0, more)
		c.nudge()
	}
	if st == nil || st.gotEnd || st.err != nil {
		return
	}
	if more := st.body.window.give(int32(n)); more > 0 {
		c.out.buf = appendWindowUpdate(c.room(), st.id, more)
		c.nudge()
	}
}

// sayContinue asks for the body, unless the answer has begun. mu is held.
func (c *conn) sayContinue(st *stream) {
	if st.headed || st.err != nil || c.out.closed {
		return
	}
	b := c.room()
	block := []byte{noTable, 0x08, 3, '1', '0', '0'} // :status 100
	if c.out.begun {
		block = block[1:]
	}
	c.out.begun = true
	c.out.buf = appendHeaders(b, st.id, block, false, c.out.maxFrame)
	c.nudge()
}

// came takes a DATA frame's payload in; length counts padding. mu is held.
func (c *conn) came(st *stream, data []byte, length int32, end bool) error {
	b := &st.body
	if !b.window.take(length) {
		c.give(nil, int(length))
		return c.breakStream(st, &streamFault{st.id, http2.ErrCodeFlowControl, "more data than the stream's window"})
	}
	b.got += int64(len(data))
	if b.announced >= 0 && (b.got > b.announced || end && b.got < b.announced) {
		c.give(nil, int(length))
		b.fail(errLength)
		return c.breakStream(st, &streamFault{st.id, http2.ErrCodeProtocol, "body length differs from content-length"})
	}
	kept := 0
	if !b.closed {
		kept = len(data)
		b.add(data)
	}
	if end {
		st.gotEnd = true
		b.fail(io.EOF)
	}
	// Padding is read at once; what a handler doesn't want any more frees the connection's window only.
	c.give(nil, len(data)-kept)
	c.give(st, int(length)-len(data))
	if end && st.sentEnd {
		c.forget(st, false)
	}
	st.changed.Broadcast()
	return nil
}
