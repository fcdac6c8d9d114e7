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

// response is the http.ResponseWriter of a stream. Its handler alone uses it, but for the deadlines.
type response struct {
	st       *stream
	header   http.Header
	scratch  *scratch // nil while there is nothing to keep
	status   int      // 0 before WriteHeader
	known    fields   // set by the handler
	length   int64    // announced by the handler, -1 for not
	written  int64
	sent     bool // the header is sent
	headOnly bool // no body is sent
	finished bool
}

// scratch is what a handler has written and not sent.
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

// keep returns where to collect.
func (w *response) keep() *scratch {
	if w.scratch == nil {
		w.scratch = w.st.conn.server.scratch.get()
	}
	return w.scratch
}

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

// WriteHeader implements http.ResponseWriter. Informational answers are sent at once.
func (w *response) WriteHeader(code int) {
	if w.status != 0 || w.finished {
		return
	}
	if code < 100 || code > 999 {
		panic(fmt.Sprintf("invalid WriteHeader code %v", code))
	}
	s := w.keep()
	s.head = appendStatus(s.head[:0], code)
	var known fields
	s.head, known = appendFields(s.head, w.header, code)
	if code < 200 {
		// An error stays with the stream and shows at the next write.
		_ = w.st.send(s.head, nil, false)
		return
	}
	w.status, w.known = code, known
	if v := w.header["Connection"]; len(v) > 0 && strings.EqualFold(v[0], "close") {
		w.st.conn.drain() // HTTP/2's way to say it
	}
	if known.has(fieldLength) {
		// Anything that is no length was not encoded.
		w.length, _ = lengthOf(w.header)
	}
}

// lengthOf returns the length that a handler announces.
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
	if err := w.admit(len(p)); err != nil {
		return 0, err
	}
	s := w.keep()
	if len(s.body)+len(p) <= bodyBytes {
		s.body = append(s.body, p...)
		return len(p), nil
	}
	if w.headOnly {
		return len(p), w.push(nil, false)
	}
	if len(s.body) > 0 {
		if err := w.push(s.body, false); err != nil {
			return 0, err
		}
	}
	if err := w.push(p, false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// WriteString implements io.StringWriter.
func (w *response) WriteString(p string) (int, error) {
	if len(p) > bodyBytes || w.scratch != nil && len(w.scratch.body)+len(p) > bodyBytes {
		return w.Write([]byte(p))
	}
	if err := w.admit(len(p)); err != nil {
		return 0, err
	}
	s := w.keep()
	s.body = append(s.body, p...)
	return len(p), nil
}

// admit reports whether n bytes more may be written.
func (w *response) admit(n int) error {
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
func (w *response) Flush() { _ = w.FlushError() } // a handler that wants to know asks http.ResponseController

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
	if w.sent && len(body) == 0 {
		return w.st.broken()
	}
	return w.push(body, false)
}

// broken returns why the stream has been broken off, or nil.
func (st *stream) broken() error {
	st.conn.mu.Lock()
	defer st.conn.mu.Unlock()
	return st.err
}

// push sends the header, if it has not been sent, and data, which may be what is collected.
func (w *response) push(data []byte, end bool) error {
	var head []byte
	if !w.sent {
		head = w.complete(data, end)
		w.sent = true
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
		w.st.cancel() // the client has all that it will get: a handler that goes on would do so for nobody
	}
	w.release()
	return err
}

// complete adds to the header what the handler has left to the server.
func (w *response) complete(body []byte, end bool) []byte {
	s := w.keep()
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

// finish sends what is left when the handler has returned.
func (w *response) finish() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	var head, body []byte
	if w.scratch != nil {
		body = w.scratch.body
	}
	if !w.sent {
		head = w.complete(body, true)
	}
	if w.headOnly {
		body = nil
	}
	w.end(head, body)
	w.finished = true
}

// end sends the last of an answer and closes its stream.
func (w *response) end(head, body []byte) {
	st := w.st
	st.conn.mu.Lock()
	defer st.conn.mu.Unlock()
	switch {
	case w.headOnly && head == nil: // all is said
	case w.length > w.written && !w.headOnly && bodyAllowed(w.status):
		st.reset(http2.ErrCodeInternal, errLength) // so that the client does not take a part for the whole
	default:
		if st.writeBy.IsZero() && (len(body) > 0 || st.queue.active) {
			st.writeBy = time.Now().Add(finishTimeout)
		}
		_ = st.sendLocked(head, body, true) // nobody is left to tell
	}
	st.retire()
}

// SetReadDeadline is for http.ResponseController, from any goroutine.
func (w *response) SetReadDeadline(t time.Time) error {
	w.st.setDeadline(&w.st.readBy, t)
	return nil
}

// SetWriteDeadline is for http.ResponseController, from any goroutine. Writes that have to wait for the client fail when the time
// is up; one that is waiting does at once when the deadline has passed already.
func (w *response) SetWriteDeadline(t time.Time) error {
	w.st.setDeadline(&w.st.writeBy, t)
	return nil
}

// EnableFullDuplex is for http.ResponseController: HTTP/2 is so anyhow.
func (w *response) EnableFullDuplex() error { return nil }
