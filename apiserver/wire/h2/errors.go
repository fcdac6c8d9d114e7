package h2

import (
	"errors"

	"golang.org/x/net/http2"
)

var (
	// errReset is what a handler is told when the client has given up its request.
	errReset = errors.New("http2: stream reset by the client")
	// errGone is what a handler is told when the connection has ended.
	errGone = errors.New("http2: connection closed")
	// errBroken is what a handler is told when the server has broken the stream off.
	errBroken = errors.New("http2: stream broken off by the server")
	// errFinished is what comes of using a ResponseWriter after the handler has returned.
	errFinished = errors.New("http2: handler has returned")
	// errLength is a request body that is not as long as announced.
	errLength = errors.New("http2: body length differs from Content-Length")

	errDone       = errors.New("connection is drained")
	errNoPeer     = errors.New("client does not answer")
	errStalled    = errors.New("client does not read")
	errBadPreface = errors.New("not an HTTP/2 client")
)

// connFault ends the connection with an error code; limit names the bound that was hit, if it was one.
type connFault struct {
	code  http2.ErrCode
	why   string
	limit string
}

func (f *connFault) Error() string { return f.code.String() + ": " + f.why }

// streamFault ends one stream with an error code.
type streamFault struct {
	id   uint32
	code http2.ErrCode
	why  string
}

// dependsOnItself is why a priority is refused.
const dependsOnItself = "stream depends on itself"

func (f *streamFault) Error() string { return f.code.String() + ": " + f.why }

func protocolFault(why string) error { return &connFault{code: http2.ErrCodeProtocol, why: why} }

func excess(limit, why string) error {
	return &connFault{code: http2.ErrCodeEnhanceYourCalm, why: why, limit: limit}
}
