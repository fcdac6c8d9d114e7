package h2

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// response is the http.ResponseWriter of a stream. Only the handler may use it, except for the
// deadlines, TryEnqueue, Pending, Connection and Resume.
type response struct {
	st         *stream
	account    Account // nil if nobody is charged
	header     http.Header
	scratch    *scratch // nil while nothing is collected
	status     int      // 0 before WriteHeader
	known      fields   // fields that the handler has set
	length     int64    // Content-Length as set by the handler, or -1
	written    int64
	headerSent bool // or queued
	headOnly   bool // the request's method is HEAD
	finished   bool
	next       Continuation // see Then; nil if there is nothing left to do
}

// scratch holds the encoded header and the body bytes that a handler has written and not sent.
type scratch struct{ head, body []byte }

type scratchPool struct{ pool sync.Pool }

func (p *scratchPool) get() *scratch {
	if s, ok := p.pool.Get().(*scratch); ok {
		return s
	}
	return &scratch{}
}

func (p *scratchPool) put(s *scratch) {
	s.head, s.body = s.head[:0], s.body[:0]
	if cap(s.head)+cap(s.body) <= maxPooledBytes {
		p.pool.Put(s)
	}
}

func (w *response) init(st *stream) {
	w.st, w.length = st, -1
	w.headOnly = st.req.Method == http.MethodHead
	b := &st.conn.server.bounds
	if b.read > 0 {
		st.readBy = time.Now().Add(b.read)
	}
	if b.write > 0 {
		st.writeBy = time.Now().Add(b.write)
	}
}

// getScratch returns the scratch of the response, taking one from the pool if there is none.
func (w *response) getScratch() *scratch {
	if w.scratch == nil {
		w.scratch = w.st.conn.server.scratch.get()
	}
	return w.scratch
}

// release returns the scratch to the pool.
func (w *response) release() {
	if w.scratch != nil {
		w.st.conn.server.scratch.put(w.scratch)
		w.scratch = nil
	}
}

// Header implements http.ResponseWriter.
func (w *response) Header() http.Header {
	if w.header == nil {
		w.header = make(http.Header)
	}
	return w.header
}

// WriteHeader implements http.ResponseWriter. It sends informational responses at once.
func (w *response) WriteHeader(code int) {
	if w.status != 0 || w.finished {
		return
	}
	if code < 100 || code > 999 {
		panic(fmt.Sprintf("invalid WriteHeader code %v", code))
	}
	s := w.getScratch()
	s.head = appendStatus(s.head[:0], code)
	var known fields
	s.head, known = appendFields(s.head, w.header, code)
	if code < 200 {
		// The next write returns the error of the stream again.
		_ = w.st.send(s.head, nil, false)
		return
	}
	w.status, w.known = code, known
	if v := w.header["Connection"]; len(v) > 0 && strings.EqualFold(v[0], "close") {
		w.st.conn.drain() // which is how HTTP/2 closes a connection
	}
	if known.has(fieldLength) {
		// appendFields has dropped an invalid length, so this one is valid.
		w.length, _ = lengthOf(w.header)
	}
}

// lengthOf returns the Content-Length that a handler has set, or false if it is missing or invalid.
func lengthOf(h http.Header) (int64, bool) {
	values := h["Content-Length"]
	if len(values) == 0 {
		return -1, false
	}
	n, err := strconv.ParseUint(values[0], 10, 63)
	if err != nil {
		return -1, false
	}
	return int64(n), true
}

// Write implements http.ResponseWriter.
func (w *response) Write(p []byte) (int, error) {
	if err := w.checkWrite(len(p)); err != nil {
		return 0, err
	}
	s := w.getScratch()
	if len(s.body)+len(p) <= bodyBytes {
		s.body = append(s.body, p...)
		return len(p), nil
	}
	if w.headOnly {
		return len(p), w.send(nil, false)
	}
	if len(s.body) > 0 {
		if err := w.send(s.body, false); err != nil {
			return 0, err
		}
	}
	if err := w.send(p, false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// WriteString implements io.StringWriter.
func (w *response) WriteString(p string) (int, error) {
	if len(p) > bodyBytes || w.scratch != nil && len(w.scratch.body)+len(p) > bodyBytes {
		return w.Write([]byte(p))
	}
	if err := w.checkWrite(len(p)); err != nil {
		return 0, err
	}
	s := w.getScratch()
	s.body = append(s.body, p...)
	return len(p), nil
}

// checkWrite prepares to write n more bytes of the body. It returns an error if the handler must
// not write them.
func (w *response) checkWrite(n int) error {
	if w.finished {
		return errFinished
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !bodyAllowed(w.status) {
		return http.ErrBodyNotAllowed
	}
	w.written += int64(n)
	if w.length >= 0 && w.written > w.length {
		return http.ErrContentLength
	}
	return nil
}

func bodyAllowed(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified
}

// Flush implements http.Flusher.
func (w *response) Flush() { _ = w.FlushError() } // http.ResponseController returns the error

// FlushError is Flush for http.ResponseController.
func (w *response) FlushError() error {
	if w.finished {
		return errFinished
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	var body []byte
	if w.scratch != nil {
		body = w.scratch.body
	}
	if w.headerSent && len(body) == 0 {
		return w.st.broken()
	}
	return w.send(body, false)
}

// broken returns the error that has ended the stream, or nil.
func (st *stream) broken() error {
	st.conn.mu.Lock()
	defer st.conn.mu.Unlock()
	return st.err
}

// send sends the header, unless it has been sent, and data, which may be scratch.body. It waits
// until they are in the outgoing buffer.
func (w *response) send(data []byte, end bool) error {
	var head []byte
	if !w.headerSent {
		head = w.completeHeader(data, end)
		w.headerSent = true
		if w.headOnly || !bodyAllowed(w.status) {
			end = true
		}
	}
	var err error
	if head != nil || !w.headOnly {
		if w.headOnly {
			data = nil
		}
		err = w.st.send(head, data, end)
	}
	if end {
		w.st.cancel() // the response is complete, so the handler can stop
	}
	w.release()
	return err
}

// completeHeader adds the fields that the handler has not set to the header and returns its
// encoding.
func (w *response) completeHeader(body []byte, end bool) []byte {
	s := w.getScratch()
	allowed := bodyAllowed(w.status)
	if allowed && len(body) > 0 && !w.known.has(fieldType|fieldEncoding) {
		s.head = appendField(s.head, "Content-Type", http.DetectContentType(body))
	}
	if allowed && end && w.length < 0 && (len(body) > 0 || !w.headOnly) {
		s.head = appendLength(s.head, len(body))
	}
	if !w.known.has(fieldDate) {
		s.head = append(s.head, w.st.conn.server.dates.now()...)
	}
	return s.head
}

// finish sends the rest of the response after the handler has returned.
func (w *response) finish() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	var head, body []byte
	if w.scratch != nil {
		body = w.scratch.body
	}
	if !w.headerSent {
		head = w.completeHeader(body, true)
	}
	if w.headOnly {
		body = nil
	}
	w.sendEnd(head, body)
	w.finished = true
}

// sendEnd sends the header, if it is not nil, the rest of the body and the end of the stream, and
// releases the resources of the stream.
func (w *response) sendEnd(head, body []byte) {
	st := w.st
	st.conn.mu.Lock()
	defer st.conn.mu.Unlock()
	switch {
	case w.headOnly && head == nil: // the header has ended the stream
	case w.length > w.written && !w.headOnly && bodyAllowed(w.status):
		// A reset tells the client that the body is incomplete.
		st.reset(http2.ErrCodeInternal, errLength)
	default:
		st.unbounded = false
		// The handler has returned, so no caller could handle an error.
		_ = st.sendLocked(head, body, true)
	}
	st.releaseResources()
}

// SetReadDeadline implements the method that http.ResponseController looks for. Any goroutine may
// call it.
func (w *response) SetReadDeadline(t time.Time) error {
	w.st.setDeadline(&w.st.readBy, t)
	return nil
}

// SetWriteDeadline implements the method that http.ResponseController looks for. Any goroutine may
// call it. A write that waits for the client fails at the deadline, or at once if the deadline has
// passed. The zero time removes the deadline while the handler runs, including that of
// Options.ResponseTimeout.
func (w *response) SetWriteDeadline(t time.Time) error {
	w.st.setDeadline(&w.st.writeBy, t)
	return nil
}

// Charge makes the response charge its memory to an account when it has to wait for the client. The
// handler may call it before it writes.
func (w *response) Charge(a Account) { w.account = a }

// Continuation is what a handler leaves to do when it returns.
type Continuation interface {
	// Continue does some of it, and reports whether all is done.
	Continue() (done bool)
}

// Then makes next run once the handler has returned, as if the handler called it last, on a
// goroutine of its own. The response ends when next returns true. If it returns false, the response
// stays open until Resume makes next run again. A response that waits for long so costs no
// goroutine, and no stack, meanwhile. Nor does it keep its header, if that has been sent: Header
// returns an empty one then.
func (w *response) Then(next Continuation) { w.next = next }

// forgetHeader drops the header if it has been sent.
func (w *response) forgetHeader() {
	if w.headerSent {
		w.header = nil
	}
}

// Resume makes the continuation of Then run again, once, on a goroutine of its own. It must be
// called once for each time that it returns false, and may be called before it does so. Any
// goroutine may call it.
func (w *response) Resume() { go w.st.runNext() }

// EnableFullDuplex implements the method that http.ResponseController looks for. HTTP/2 is always
// full duplex.
func (w *response) EnableFullDuplex() error { return nil }
