package route

import (
	"io"
	"net/http"
)

// Binary responds with the bytes that write writes, as application/octet-stream, without buffering
// them. Each write may wait for the client for a limited time. Binary returns the error of write;
// after the first byte, an error aborts the response.
func (c *Call) Binary(write func(w io.Writer) error) error {
	return write(&binary{call: c})
}

// binary sends the response header before the first bytes.
type binary struct {
	call  *Call
	begun bool
}

func (b *binary) Write(p []byte) (int, error) {
	if err := b.call.limitNextWrite(); err != nil {
		return 0, err
	}
	if !b.begun {
		b.begun = true
		b.call.W.Header()["Content-Type"] = []string{"application/octet-stream"}
		b.call.W.WriteHeader(http.StatusOK)
	}
	n, err := b.call.W.Write(p)
	return n, gone(err)
}
