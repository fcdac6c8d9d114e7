package apiserver

import (
	"net/http"

	"quorate/apiserver/auth"
	"quorate/apiserver/route"
	"quorate/apiserver/watch"
)

// exchange is one request with its answer: a writer that notes what was sent.
type exchange struct {
	http.ResponseWriter
	call   route.Call
	series *route.Series
	sender *auth.User // who impersonates the call's user; nil when nobody does

	code  int // 0 until the header is sent
	bytes int64
	id    [1]string // Audit-Id
}

// WriteHeader implements http.ResponseWriter.
func (x *exchange) WriteHeader(code int) {
	if x.code == 0 {
		x.code = code
	}
	x.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (x *exchange) Write(p []byte) (int, error) {
	if x.code == 0 {
		x.code = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(p)
	x.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

var _ watch.Lender = (*exchange)(nil)

// Lend implements watch.Lender, as far as the connection does.
func (x *exchange) Lend(p []byte) bool {
	l, ok := x.ResponseWriter.(watch.Lender)
	if !ok || !l.Lend(p) {
		return false
	}
	x.bytes += int64(len(p))
	return true
}

// Lent implements watch.Lender.
func (x *exchange) Lent() bool {
	l, ok := x.ResponseWriter.(watch.Lender)
	return ok && l.Lent()
}

// Connection implements watch.Lender.
func (x *exchange) Connection() any {
	if l, ok := x.ResponseWriter.(watch.Lender); ok {
		return l.Connection()
	}
	return nil
}
