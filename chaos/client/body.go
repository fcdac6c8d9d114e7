package client

import (
	"bytes"
	"io"
	"os"
	"sync"
)

// body is the body of one request. It can be sent once, and records whether the transport ever read
// from it. If not, no server can have received the whole request, however the attempt ended.
type body struct {
	mu     sync.Mutex // guards all below
	rest   bytes.Reader
	taken  bool
	closed bool
}

func newBody(content []byte) *body {
	b := &body{}
	b.rest.Reset(content)
	return b
}

// Read implements io.Reader. After Close it returns no more bytes, so the result of untouched
// remains true.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, os.ErrClosed
	}
	b.taken = true
	return b.rest.Read(p)
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return nil
}

// untouched closes the body and reports whether nothing was taken of it.
func (b *body) untouched() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return !b.taken
}

var _ io.ReadCloser = (*body)(nil)
