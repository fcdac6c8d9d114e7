package h2

import (
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"

	"quorate/apiserver/wire/cancel"
)

// stream is a request and its response.
type stream struct {
	conn     *conn
	id       uint32
	req      *http.Request
	ctx      cancel.Context // of req
	response response       // used by the handler only

	// conn.mu guards the fields below.

	window      int64     // the client's window; may be negative
	queue       queue     // what has to be moved to the outgoing buffer
	next        *stream   // in the list of outgoing.first
	waiting     bool      // the stream is in that list
	changed     sync.Cond // wakes the handler while it waits to send or to receive
	err         error     // why the stream was aborted; never changes once set
	receivedEnd bool      // the client has sent END_STREAM
	sentEnd     bool      // END_STREAM is in the outgoing buffer
	headQueued  bool      // a header block has been queued, of any response
	readBy      time.Time
	writeBy     time.Time
	unbounded   bool // the handler has removed the write deadline
	charged     bool // the response has begun to wait, and its account knows
	body        body
}

// queue is a write that is not yet in the outgoing buffer. The bytes belong to the handler or to
// the caller of TryEnqueue.
type queue struct {
	head   []byte // header block without frame headers; nil if there is none to send
	data   []byte
	end    bool
	active bool
}

// needsWindow reports whether the next frame of the queue needs an open window.
func (q *queue) needsWindow() bool { return q.head == nil && len(q.data) > 0 }

// cancel ends the context of the request.
func (st *stream) cancel() { st.ctx.Cancel(nil) }

// send sends a header block, data and the end of the stream, each of which may be missing. It
// returns nil when all of them are in the outgoing buffer, or the error with which the stream was
// aborted. It does not retain head or data.
func (st *stream) send(head, data []byte, end bool) error {
	c := st.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	return st.sendLocked(head, data, end)
}

// sendLocked is send for callers that hold mu.
func (st *stream) sendLocked(head, data []byte, end bool) error {
	st.awaitSent() // enqueued bytes go first
	if st.err != nil {
		return st.err
	}
	if st.sentEnd {
		return nil // a response without a body has ended with its header
	}
	st.enqueue(head, data, end)
	st.awaitSent()
	return st.err
}

// enqueue queues a write and moves as much of it as possible to the outgoing buffer. No other write
// may be queued. mu is held.
func (st *stream) enqueue(head, data []byte, end bool) {
	c := st.conn
	st.headQueued = st.headQueued || head != nil
	st.queue = queue{head: head, data: data, end: end, active: true}
	defer c.wakeWriter()
	for c.out.first == nil && len(c.out.buf) < maxQueuedBytes {
		if c.moveFrame(st) {
			st.noteSent()
			return
		}
		if st.window <= 0 || c.out.window <= 0 {
			break
		}
	}
	if st.window > 0 || !st.queue.needsWindow() {
		c.out.push(st)
		c.moveWaiting()
	}
}

// awaitSent waits until no write is queued or the stream has been aborted. It resets the stream at
// the write deadline, or if the response's account refuses to let it wait. A stream without a
// deadline gets one when it first waits, so that responses that need not wait do not read the
// clock. mu is held.
func (st *stream) awaitSent() {
	for st.queue.active && st.err == nil {
		if st.writeBy.IsZero() && !st.unbounded {
			st.writeBy = time.Now().Add(st.conn.server.bounds.response)
		}
		if !st.charge() {
			st.conn.server.metrics.hit(limitWaiting)
			st.reset(http2.ErrCodeEnhanceYourCalm, errWaiting)
			break
		}
		if !st.wait(&st.writeBy) {
			st.conn.server.metrics.hit(limitResponseTime)
			st.reset(http2.ErrCodeInternal, os.ErrDeadlineExceeded)
		}
	}
	st.queue = queue{}
}

// charge charges the response to its account, once, and reports whether it may wait. mu is held.
func (st *stream) charge() bool {
	a := st.response.account
	if a == nil || st.charged {
		return true
	}
	st.charged = true
	return a.BeginWaiting()
}

// noteSent empties the queue after all of it has been moved, and closes the stream if both sides
// have ended. mu is held.
func (st *stream) noteSent() {
	end := st.queue.end
	st.queue = queue{}
	if end {
		st.sentEnd = true
		if st.receivedEnd {
			st.conn.removeStream(st, false)
		}
	}
}

// wait waits for the next change of the stream. It returns false, without waiting, if the deadline
// has passed. mu is held; wait releases it while it waits.
func (st *stream) wait(deadline *time.Time) bool {
	if deadline.IsZero() {
		st.changed.Wait()
		return true
	}
	left := time.Until(*deadline)
	if left <= 0 {
		return false
	}
	// The runtime keeps stopped timers, and what they refer to, until a quarter of all are stopped,
	// which are thousands of ended requests on a node with many watches. So the timer drops the
	// stream.
	var waiter atomic.Pointer[stream]
	waiter.Store(st)
	timer := time.AfterFunc(left, func() {
		if st := waiter.Load(); st != nil {
			st.conn.mu.Lock()
			defer st.conn.mu.Unlock()
			st.changed.Broadcast()
		}
	})
	defer func() {
		timer.Stop()
		waiter.Store(nil)
	}()
	st.changed.Wait()
	return true
}

// reset aborts the stream and sends RST_STREAM, unless both sides have ended. mu is held.
func (st *stream) reset(code http2.ErrCode, err error) {
	if st.err != nil {
		return
	}
	open := !st.sentEnd || !st.receivedEnd
	st.abort(err, true)
	if open && !st.conn.out.closed {
		st.conn.out.buf = appendReset(st.conn.outBuffer(), st.id, code)
		st.conn.wakeWriter()
	}
}

// abort ends the stream, and the context of its request, without a frame to the client. mu is held.
func (st *stream) abort(err error, byServer bool) {
	if st.err == nil {
		st.err = err
	}
	st.queue = queue{} // from here on the bytes belong to their owner again
	st.body.fail(err)
	st.changed.Broadcast()
	st.cancel()
	st.conn.removeStream(st, byServer)
}

// run is the goroutine of the handler.
func (st *stream) run(h http.Handler) {
	growStack(0)
	continued := false
	defer func() {
		if !continued {
			st.endHandler(recover())
		}
	}()
	h.ServeHTTP(&st.response, st.req)
	if st.response.next != nil {
		continued = true
		st.response.forgetHeader()
		go st.runNext()
		return
	}
	st.response.finish()
}

// runNext is the goroutine of what a handler left to do (response.Then). If that is not done, the
// next goroutine may already run, so this one no longer uses the stream.
func (st *stream) runNext() {
	paused := false
	defer func() {
		if !paused {
			st.endHandler(recover())
		}
	}()
	if paused = !st.response.next.Continue(); !paused {
		st.response.finish()
	}
}

// endHandler ends the goroutine of a handler that has returned, or panicked for a reason.
func (st *stream) endHandler(reason any) {
	defer st.conn.handlers.Done()
	if !st.response.finished {
		st.recovered(reason)
	}
	st.cancel()
	if st.charged { // set by this goroutine only
		st.response.account.EndWaiting()
	}
	st.response.release()
	if st.req.MultipartForm != nil {
		// The operating system clears temporary files that cannot be removed.
		_ = st.req.MultipartForm.RemoveAll()
	}
}

// releaseResources releases the handler's slot and the unread body, and stops the client from
// sending the rest of the request. mu is held.
func (st *stream) releaseResources() {
	c := st.conn
	c.running--
	c.credit(nil, st.body.discard())
	switch {
	case st.err != nil || st.receivedEnd:
	case st.sentEnd:
		st.resetLater()
	default:
		st.reset(http2.ErrCodeNo, errFinished)
	}
}

// resetLater resets a stream whose complete response has been sent, if the client has not ended its
// request after resetAfter (RFC 9113 §8.1). The delay is for clients such as curl 7.88, which
// discard the response if they receive the reset together with it. mu is held.
func (st *stream) resetLater() {
	time.AfterFunc(resetAfter, func() {
		st.conn.mu.Lock()
		defer st.conn.mu.Unlock()
		if !st.receivedEnd {
			st.conn.server.metrics.hit(limitLateBody)
			st.reset(http2.ErrCodeNo, errFinished)
		}
	})
}

// abandon resets the stream of a handler that has panicked before it ended the response.
func (st *stream) abandon() {
	st.conn.mu.Lock()
	defer st.conn.mu.Unlock()
	if !st.sentEnd {
		st.reset(http2.ErrCodeInternal, errBroken)
	}
	st.releaseResources()
}

// recovered handles the panic of a handler: it resets the stream and logs the reason.
func (st *stream) recovered(reason any) {
	c := st.conn
	st.abandon()
	if reason == nil || reason == http.ErrAbortHandler {
		return
	}
	c.server.logf("http2: panic serving %v: %v\n%s", c.nc.RemoteAddr(), reason, debug.Stack())
}

// setDeadline sets readBy or writeBy and wakes the handler if it waits.
func (st *stream) setDeadline(which *time.Time, t time.Time) {
	st.conn.mu.Lock()
	defer st.conn.mu.Unlock()
	*which = t
	st.unbounded = st.unbounded || which == &st.writeBy && t.IsZero()
	st.changed.Broadcast()
}
