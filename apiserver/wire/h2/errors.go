package h2

import (
	"errors"

	"golang.org/x/net/http2"
)

var (
	// errReset is returned to a handler whose client has reset the stream.
	errReset = errors.New("http2: stream reset by the client")
	// errConnClosed is returned to a handler whose connection has ended.
	errConnClosed = errors.New("http2: connection closed")
	// errBroken is returned to a handler whose stream the server has reset.
	errBroken = errors.New("http2: stream reset by the server")
	// errFinished is returned by a ResponseWriter that is used after its handler has returned.
	errFinished = errors.New("http2: handler has returned")
	// errWaiting is returned to a handler whose response may not wait for the client, because too
	// many others do.
	errWaiting = errors.New("http2: too many responses wait for their clients")
	// errLength is the error of a body whose length differs from its Content-Length.
	errLength = errors.New("http2: body length differs from Content-Length")

	errDone       = errors.New("connection is drained")
	errNoPeer     = errors.New("client does not respond")
	errStalled    = errors.New("client does not read")
	errBadPreface = errors.New("not an HTTP/2 client")
)

// connFault is a connection error (RFC 9113 §5.4.1). limit is the bound that the client has hit, or
// empty.
type connFault struct {
	code  http2.ErrCode
	why   string
	limit string
}

func (f *connFault) Error() string { return f.code.String() + ": " + f.why }

// streamFault is a stream error (RFC 9113 §5.4.2).
type streamFault struct {
	id   uint32
	code http2.ErrCode
	why  string
}

// dependsOnItself is the reason for which a priority is refused.
const dependsOnItself = "stream depends on itself"

func (f *streamFault) Error() string { return f.code.String() + ": " + f.why }

// protocolFault returns a connection error with code PROTOCOL_ERROR.
func protocolFault(why string) error { return &connFault{code: http2.ErrCodeProtocol, why: why} }

// limitExceeded returns a connection error for a client that has hit a bound.
func limitExceeded(limit, why string) error {
	return &connFault{code: http2.ErrCodeEnhanceYourCalm, why: why, limit: limit}
}
