package h2

import (
	"io"
	"net/http"
	"os"

	"golang.org/x/net/http2"
)

// window is a receive window: the number of bytes that the client may send. The server credits
// bytes in portions, to save WINDOW_UPDATE frames.
type window struct {
	left       int32 // bytes that the client may still send
	uncredited int32 // bytes consumed by the handler and not credited yet
	portion    int32
}

func newWindow(size, portion int32) window { return window{left: size, portion: portion} }

// consume takes n received bytes from the window, and reports whether the window had them.
func (w *window) consume(n int32) bool {
	if n > w.left {
		return false
	}
	w.left -= n
	return true
}

// credit adds n bytes and returns the increment to send to the client, or 0 if it is still too
// small.
func (w *window) credit(n int32) int32 {
	w.uncredited += n
	if w.uncredited < w.portion {
		return 0
	}
	n = w.uncredited
	w.left += n
	w.uncredited = 0
	return n
}

// body is the received part of a request body. conn.mu guards it.
type body struct {
	buf             []byte
	off             int   // of the first unread byte
	contentLength   int64 // -1 if unknown
	received        int64
	err             error // returned after the last byte
	closed          bool
	continuePending bool // the client waits for a 100 response
	window          window
}

func (b *body) unread() int { return len(b.buf) - b.off }

// add appends received data.
func (b *body) add(data []byte) {
	if len(data) == 0 { // the end of a body that may have been taken
		return
	}
	if b.off > 0 && b.off >= len(b.buf)/2 && len(b.buf)+len(data) > cap(b.buf) {
		b.buf = b.buf[:copy(b.buf, b.buf[b.off:])]
		b.off = 0
	}
	if b.buf == nil && b.contentLength > 0 {
		// Allocate more only when the data has arrived.
		b.buf = make([]byte, 0, min(b.contentLength, maxFrameBytes))
	}
	b.buf = append(b.buf, data...)
}

// fail sets the error that follows the last byte, unless there is one.
func (b *body) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// discard closes the body and returns the number of unread bytes, which it drops.
func (b *body) discard() int {
	n := b.unread()
	b.closed = true
	b.buf, b.off = nil, 0
	return n
}

// requestBody is the Body of a stream's http.Request.
type requestBody struct{ st *stream }

// Read implements io.Reader.
func (r requestBody) Read(p []byte) (int, error) {
	st := r.st
	c := st.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	b := &st.body
	if b.continuePending {
		b.continuePending = false
		c.sendContinue(st)
	}
	for {
		switch {
		case b.closed:
			return 0, http.ErrBodyReadAfterClose
		case b.unread() > 0:
			return st.readBody(p), nil
		case b.err != nil:
			return 0, b.err
		case len(p) == 0:
			return 0, nil
		}
		if !st.wait(&st.readBy) {
			return 0, os.ErrDeadlineExceeded
		}
	}
}

// TakeWhole returns the memory in which the body has arrived, which belongs to the caller from then
// on, if all of it has and its length is that of a frame or less. Otherwise, or if a part has been
// read, it does nothing: Read credits each part of a body that the client sends slowly, so that
// those of a connection don't wait for each other.
func (r requestBody) TakeWhole() (whole []byte, ok bool) {
	st := r.st
	st.conn.mu.Lock()
	defer st.conn.mu.Unlock()
	b := &st.body
	n := int64(b.unread())
	if n == 0 || n > maxFrameBytes || n != b.contentLength || b.closed {
		return nil, false
	}
	whole, b.buf = b.buf, nil
	st.conn.credit(st, len(whole))
	return whole, true
}

// readBody copies unread bytes to p and credits them to the client. mu is held.
func (st *stream) readBody(p []byte) int {
	b := &st.body
	n := copy(p, b.buf[b.off:])
	b.off += n
	if b.unread() == 0 {
		b.buf, b.off = b.buf[:0], 0
		if b.err != nil {
			b.buf = nil
		}
	}
	st.conn.credit(st, n)
	return n
}

// Close implements io.Closer.
func (r requestBody) Close() error {
	c := r.st.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	c.credit(nil, r.st.body.discard())
	return nil
}

// credit lets the client send n bytes more: in the connection's window and, if st is not nil, in
// the stream's. mu is held.
func (c *conn) credit(st *stream, n int) {
	if n == 0 || c.out.closed {
		return
	}
	if more := c.window.credit(int32(n)); more > 0 {
		c.out.buf = appendWindowUpdate(c.outBuffer(), 0, more)
		c.wakeWriter()
	}
	if st == nil || st.receivedEnd || st.err != nil {
		return
	}
	if more := st.body.window.credit(int32(n)); more > 0 {
		c.out.buf = appendWindowUpdate(c.outBuffer(), st.id, more)
		c.wakeWriter()
	}
}

// sendContinue sends a 100 response, unless the handler has sent a header. mu is held.
func (c *conn) sendContinue(st *stream) {
	if st.headQueued || st.err != nil || c.out.closed {
		return
	}
	b := c.outBuffer()
	block := []byte{noTable, 0x08, 3, '1', '0', '0'} // :status 100
	if c.out.begun {
		block = block[1:]
	}
	c.out.begun = true
	c.out.buf = appendHeaders(b, st.id, block, false, c.out.maxFrame)
	c.wakeWriter()
}

// receive adds the data of a DATA frame to a stream's body. length is the size of the frame with
// its padding. mu is held.
func (c *conn) receive(st *stream, data []byte, length int32, end bool) error {
	b := &st.body
	if !b.window.consume(length) {
		c.credit(nil, int(length))
		return c.breakStream(st, &streamFault{st.id, http2.ErrCodeFlowControl, "more data than the stream's window"})
	}
	b.received += int64(len(data))
	if b.contentLength >= 0 && (b.received > b.contentLength || end && b.received < b.contentLength) {
		c.credit(nil, int(length))
		b.fail(errLength)
		return c.breakStream(st, &streamFault{st.id, http2.ErrCodeProtocol, "body length differs from content-length"})
	}
	kept := 0
	if !b.closed {
		kept = len(data)
		b.add(data)
	}
	if end {
		st.receivedEnd = true
		b.fail(io.EOF)
	}
	// The connection's window regains at once the data that no handler will read, and both windows
	// regain the padding.
	c.credit(nil, len(data)-kept)
	c.credit(st, int(length)-len(data))
	if end && st.sentEnd {
		c.removeStream(st, false)
	}
	st.changed.Broadcast()
	return nil
}
