package route

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"quorate/apiserver/wire/status"
)

const (
	// MaxBodyBytes is the size of the largest request body; a larger one gets 413 (A43).
	MaxBodyBytes = 3 << 20
	// readTimeout is how long a client may take to send a body.
	readTimeout = 30 * time.Second
	// firstRead is the buffer for a body of unknown length.
	firstRead = 16 << 10
)

// Budget bounds the memory that all requests in progress use for one purpose.
type Budget struct {
	max  int64
	used atomic.Int64
	hit  func() // counts refusals
}

// NewBudget returns a budget of bytes; it calls hit when it refuses a request.
func NewBudget(bytes int64, hit func()) *Budget { return &Budget{max: bytes, hit: hit} }

// Used returns the bytes in use.
func (b *Budget) Used() int64 { return b.used.Load() }

func (b *Budget) take(n int64) bool {
	if b.used.Add(n) <= b.max {
		return true
	}
	b.used.Add(-n)
	b.hit()
	return false
}

// Body returns the request's body, which the first call reads.
func (c *Call) Body() ([]byte, error) {
	var err error
	if !c.hasBody {
		c.body, err = c.receive()
		c.hasBody = err == nil
	}
	return c.body, err
}

// receive reads the body. It refuses one whose Content-Length is too large before reading a byte
// (A43).
func (c *Call) receive() ([]byte, error) {
	length := c.R.ContentLength
	switch {
	case length == 0:
		return nil, nil
	case length > MaxBodyBytes:
		return nil, status.NewEntityTooLarge(MaxBodyBytes)
	}
	rc := http.NewResponseController(c.W)
	if err := rc.SetReadDeadline(time.Now().Add(readTimeout)); err != nil {
		return nil, fmt.Errorf("bound the time for a body: %w", err)
	}
	body, err := c.readBody(length)
	if err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, status.NewBadRequest("the body did not arrive in time")
		}
		return nil, err
	}
	if c.R.ProtoMajor == 1 {
		// An HTTP/1 deadline is the connection's: left in place, it would abort the request later.
		if err := rc.SetReadDeadline(time.Time{}); err != nil {
			return nil, fmt.Errorf("end the time for a body: %w", err)
		}
	}
	return body, nil
}

func (c *Call) readBody(length int64) ([]byte, error) {
	if length > 0 {
		if !c.take(length) {
			return nil, status.NewTooManyRequests()
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(c.R.Body, body); err != nil {
			return nil, broken(err)
		}
		return body, nil
	}
	if !c.take(firstRead) {
		return nil, status.NewTooManyRequests()
	}
	return c.readUnknown(make([]byte, 0, firstRead))
}

// readUnknown reads a body without a Content-Length and takes memory from the budget as it grows.
func (c *Call) readUnknown(body []byte) ([]byte, error) {
	for {
		n, err := c.R.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case len(body) > MaxBodyBytes:
			return nil, status.NewEntityTooLarge(MaxBodyBytes)
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, broken(err)
		}
		if len(body) == cap(body) {
			if !c.take(int64(cap(body))) {
				return nil, status.NewTooManyRequests()
			}
			body = append(make([]byte, 0, 2*cap(body)), body...)
		}
	}
}

// broken returns the error for a body that the client did not send completely.
func broken(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return status.NewBadRequest("couldn't read the request body: " + err.Error())
}

func (c *Call) take(n int64) bool {
	if !c.Bodies.take(n) {
		return false
	}
	c.taken += n
	return true
}

// KeepEncoded takes memory for encoded bytes that are kept until they are sent. It reports false
// when the budget is spent.
func (c *Call) KeepEncoded(bytes int) bool {
	if !c.Encoded.take(int64(bytes)) {
		return false
	}
	c.encoded += int64(bytes)
	return true
}

// Release returns the memory that the call has taken. The front calls it when the call ends.
func (c *Call) Release() {
	if c.taken > 0 {
		c.Bodies.used.Add(-c.taken)
		c.taken = 0
	}
	if c.encoded > 0 {
		c.Encoded.used.Add(-c.encoded)
		c.encoded = 0
	}
}
