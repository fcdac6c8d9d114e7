package h2

import (
	"context"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// stream is one request and its answer.
type stream struct {
	conn     *conn
	id       uint32
	req      *http.Request
	cancel   context.CancelFunc
	response response // the handler's alone

	// conn.mu guards what follows.

	window  int64     // what the client takes
	queue   queue     // what the handler sends and waits to have taken
	next    *stream   // in outgoing.first
	waiting bool      // it is there
	changed sync.Cond // for the handler, when it waits to send or to receive
	err     error     // why nothing comes or goes any more; stays
	gotEnd  bool      // the client has ended its side
	sentEnd bool      // we have ended ours
	headed  bool      // the answer's header has been queued
	readBy  time.Time
	writeBy time.Time
	body    body
}

// queue is what a handler lends until it is sent.
type queue struct {
	head   []byte // header block, not framed
	data   []byte
	end    bool
	active bool
}

// needsWindow reports whether nothing of it can go out while a window is shut.
func (q *queue) needsWindow() bool { return q.head == nil && len(q.data) > 0 }

// send hands over a header block, data and the stream's end. It returns when all is in the outgoing buffer or never will be, and keeps
// nothing of it.
func (st *stream) send(head, data []byte, end bool) error {
	c := st.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	return st.sendLocked(head, data, end)
}

func (st *stream) sendLocked(head, data []byte, end bool) error {
	st.settle() // enqueued bytes go first
	if st.err != nil {
		return st.err
	}
	if st.sentEnd {
		return nil // an answer without a body has ended with its header
	}
	st.offer(head, data, end)
	st.settle()
	return st.err
}

// offer queues what there is to send; nothing else may be queued. mu is held.
func (st *stream) offer(head, data []byte, end bool) {
	c := st.conn
	st.headed = st.headed || head != nil
	st.queue = queue{head: head, data: data, end: end, active: true}
	defer c.nudge()
	for c.out.first == nil && len(c.out.buf) < maxQueuedBytes {
		if c.advance(st) {
			st.sent()
			return
		}
		if st.window <= 0 || c.out.window <= 0 {
			break
		}
	}
	if st.window > 0 || !st.queue.needsWindow() {
		c.out.push(st)
		c.fill()
	}
}

// settle waits until nothing is queued, or never will be sent. mu is held.
func (st *stream) settle() {
	for st.queue.active && st.err == nil {
		if !st.sleep(&st.writeBy) {
			st.reset(http2.ErrCodeInternal, os.ErrDeadlineExceeded)
		}
	}
	st.queue = queue{}
}

// sent notes that all that was queued is in the buffer. mu is held.
func (st *stream) sent() {
	end := st.queue.end
	st.queue = queue{}
	if end {
		st.sentEnd = true
		if st.gotEnd {
			st.conn.forget(st, false)
		}
	}
}

// sleep waits for a change, once; it returns false when the deadline has passed. mu is held, but not while it waits.
func (st *stream) sleep(deadline *time.Time) bool {
	if deadline.IsZero() {
		st.changed.Wait()
		return true
	}
	left := time.Until(*deadline)
	if left <= 0 {
		return false
	}
	timer := time.AfterFunc(left, func() {
		st.conn.mu.Lock()
		defer st.conn.mu.Unlock()
		st.changed.Broadcast()
	})
	defer timer.Stop()
	st.changed.Wait()
	return true
}

// reset breaks the stream off and tells the client. mu is held.
func (st *stream) reset(code http2.ErrCode, err error) {
	if st.err != nil {
		return
	}
	open := !st.sentEnd || !st.gotEnd
	st.breakOff(err, true)
	if open && !st.conn.out.closed {
		st.conn.out.buf = appendReset(st.conn.room(), st.id, code)
		st.conn.nudge()
	}
}

// breakOff ends the stream without a word to the client. The caller cancels the context, without the lock. mu is held.
func (st *stream) breakOff(err error, byUs bool) {
	if st.err == nil {
		st.err = err
	}
	st.queue = queue{} // the handler takes back what it lent
	st.body.fail(err)
	st.changed.Broadcast()
	st.conn.forget(st, byUs)
}

// run is the handler's goroutine.
func (st *stream) run(h http.Handler) {
	defer st.conn.handlers.Done()
	defer st.end()
	h.ServeHTTP(&st.response, st.req)
	st.response.finish()
}

// end is the last that happens in a handler's goroutine, after a panic too.
func (st *stream) end() {
	if !st.response.finished {
		st.recovered(recover())
	}
	st.cancel()
	st.response.release()
	if st.req.MultipartForm != nil {
		// Temporary files that can't be removed are the operating system's to clear.
		_ = st.req.MultipartForm.RemoveAll()
	}
}

// retire closes what the handler has left open. mu is held.
func (st *stream) retire() {
	c := st.conn
	c.running--
	c.give(nil, st.body.discard())
	if st.err == nil && !st.gotEnd {
		// Nobody is going to read the rest (RFC 9113 §8.1).
		st.reset(http2.ErrCodeNo, errFinished)
	}
}

// giveUp breaks off what a handler has not finished.
func (st *stream) giveUp() {
	st.conn.mu.Lock()
	defer st.conn.mu.Unlock()
	if !st.sentEnd {
		st.reset(http2.ErrCodeInternal, errBroken)
	}
	st.retire()
}

func (st *stream) recovered(reason any) {
	c := st.conn
	st.giveUp()
	if reason == nil || reason == http.ErrAbortHandler {
		return
	}
	c.server.logf("http2: panic serving %v: %v\n%s", c.nc.RemoteAddr(), reason, debug.Stack())
}

// setDeadline changes one of the deadlines, of a handler that may be waiting.
func (st *stream) setDeadline(which *time.Time, t time.Time) {
	st.conn.mu.Lock()
	defer st.conn.mu.Unlock()
	*which = t
	st.changed.Broadcast()
}
