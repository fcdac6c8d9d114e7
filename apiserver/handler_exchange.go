package apiserver

import (
	"errors"
	"net/http"
	"os"

	"quorate/apiserver/access/audit"
	"quorate/apiserver/access/budget"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/h2"
	"quorate/apiserver/wire/status"
)

// exchange is one request with its response: a writer that records the code and the bytes sent. It
// fits into 512 bytes, a size class of the allocator; each watch keeps one.
type exchange struct {
	http.ResponseWriter
	handler *handler
	call    route.Call
	series  *route.Series
	held    budget.Holding

	code  int // 0 until the header is sent
	bytes int64

	waiting budget.Holding // of answers, while the response waits for the client

	trail    *audit.Trail   // nil if nothing of the request is recorded
	failure  *status.Status // why the request failed; nil if it has not
	audited  bool           // the audit policy was asked
	panicked bool
	late     bool // the client did not take the response in time, over HTTP/1
}

// WriteHeader implements http.ResponseWriter.
func (x *exchange) WriteHeader(code int) {
	if x.code == 0 {
		x.code = code
		x.auditStart()
	}
	x.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter. A request that still has seats may lose them while it waits
// for the client, and gets others before Write returns.
func (x *exchange) Write(p []byte) (int, error) {
	if x.code == 0 {
		x.code = http.StatusOK
	}
	x.call.Seat.BeginWait()
	n, err := x.ResponseWriter.Write(p)
	x.bytes += int64(n)
	x.late = x.late || errors.Is(err, os.ErrDeadlineExceeded)
	if again := x.call.Seat.EndWait(x.call.R.Context(), n); err == nil {
		err = again
	}
	return n, err
}

// FlushError is what http.ResponseController calls. It is like Write in regard of seats.
func (x *exchange) FlushError() error {
	x.call.Seat.BeginWait()
	err := http.NewResponseController(x.ResponseWriter).Flush()
	if again := x.call.Seat.EndWait(x.call.R.Context(), 0); err == nil {
		err = again
	}
	return err
}

// chargeWaiting makes a response of HTTP/2 take memory from the budget of its user when it has to
// wait for the client.
func (x *exchange) chargeWaiting() {
	if w, ok := x.ResponseWriter.(interface{ Charge(h2.Account) }); ok {
		w.Charge(x)
	}
}

// BeginWaiting implements h2.Account.
func (x *exchange) BeginWaiting() bool {
	x.waiting = x.call.HoldAnswer()
	_, ok := x.waiting.Take(waitingAnswer)
	return ok
}

// EndWaiting implements h2.Account.
func (x *exchange) EndWaiting() { x.waiting.Release() }

// Unwrap lets http.ResponseController reach the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// Count adds bytes that were sent without calling Write.
func (x *exchange) Count(bytes int64) { x.bytes += bytes }

// runNext runs what is left to do for a call: after ServeHTTP has returned, and in as many runs as
// it takes, if the request came over HTTP/2; or else at once, in one run.
func (x *exchange) runNext() (later bool) {
	w, later := x.ResponseWriter.(interface{ Then(next h2.Continuation) })
	if !later {
		x.call.Next.Follow()
		return false
	}
	w.Then(x)
	return true
}

// Continue implements h2.Continuation.
func (x *exchange) Continue() (done bool) {
	paused := false
	defer func() {
		if !paused {
			x.handler.finish(x, recover())
		}
	}()
	paused = !x.call.Next.Follow()
	return !paused
}
