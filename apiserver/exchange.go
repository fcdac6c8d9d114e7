package apiserver

import (
	"net/http"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/share"
	"quorate/apiserver/rest/route"
)

// exchange is one request with its response: a writer that records the code and the bytes sent.
type exchange struct {
	http.ResponseWriter
	call   route.Call
	series *route.Series
	sender *auth.User // who impersonates the call's user; nil when nobody does
	held   share.Holding

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

// Count adds bytes that were sent without calling Write.
func (x *exchange) Count(bytes int64) { x.bytes += bytes }
