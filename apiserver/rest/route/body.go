package route

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"quorate/apiserver/access/budget"
	"quorate/apiserver/limit"
	"quorate/apiserver/wire/status"
	"quorate/raftstore/addresskey"
)

const (
	// MaxBodyBytes is the size of the largest request body; a larger one gets 413 (A43).
	MaxBodyBytes = 3 << 20
	// readTimeout is how long a client may take to send a body.
	readTimeout = 30 * time.Second
	// firstRead is the buffer for a body of unknown length.
	firstRead = 16 << 10
	// firstChunk is the buffer for a body of a known length that is larger. Only what has arrived
	// is charged, since a client may announce a body and never send it.
	firstChunk = 64 << 10
)

// BodyShares returns the bounds on the memory of request bodies: bytes for all, a quarter for those
// of one user, and half for those of one address.
func BodyShares(bytes int64) budget.Config {
	largest := min(bytes, MaxBodyBytes+1) // one byte more shows that a body without a length is too large
	return budget.Config{Total: bytes, PerUser: max(bytes/4, largest), PerAddress: max(bytes/2, largest)}
}

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
	t := c.temporary()
	if !t.hasBody {
		c.Seat.BeginWait()
		t.body, err = c.receive()
		if again := c.Seat.EndWait(c.R.Context(), len(t.body)); err == nil {
			err = again
		}
		t.hasBody = err == nil
	}
	return t.body, err
}

// receive reads the body. It refuses one whose Content-Length is too large before reading a byte
// (A43).
func (c *Call) receive() ([]byte, error) {
	length := c.R.ContentLength
	switch {
	case length == 0:
		return nil, nil
	case length > c.maxBody():
		return nil, limit.Reached(limit.BodySize, status.NewEntityTooLarge(c.maxBody()))
	}
	rc := http.NewResponseController(c.W)
	if err := rc.SetReadDeadline(time.Now().Add(readTimeout)); err != nil {
		return nil, fmt.Errorf("bound the time for a body: %w", err)
	}
	body, err := c.readBody(length)
	if err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, limit.Reached(limit.BodyTime, status.NewBadRequest("the body did not arrive in time"))
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
	c.temporary().bodies = c.Bodies.Hold(c.userName(), addresskey.Of(c.R.RemoteAddr))
	if length > 0 {
		return c.readKnown(int(length))
	}
	body, err := c.grow(nil, firstRead)
	if err != nil {
		return nil, err
	}
	return c.readUnknown(body)
}

// readKnown reads a body of so many bytes: in the memory in which it has arrived, if it is small
// and there already, or else into a buffer that grows with what has arrived.
func (c *Call) readKnown(length int) ([]byte, error) {
	if b, ok := c.R.Body.(arrived); ok {
		if whole, ok := b.TakeWhole(); ok {
			return whole, c.charge(cap(whole))
		}
	}
	body, err := c.grow(nil, min(length, firstChunk))
	if err != nil {
		return nil, err
	}
	for {
		n, err := io.ReadFull(c.R.Body, body[len(body):cap(body)])
		if errors.Is(err, io.EOF) && len(body) > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, broken(err)
		}
		if body = body[:len(body)+n]; len(body) == length {
			return body, nil
		}
		if body, err = c.grow(body, min(length, 2*cap(body))); err != nil {
			return nil, err
		}
	}
}

// readUnknown reads a body without a Content-Length.
func (c *Call) readUnknown(body []byte) ([]byte, error) {
	for {
		n, err := c.R.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > c.maxBody():
			return nil, limit.Reached(limit.BodySize, status.NewEntityTooLarge(c.maxBody()))
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, broken(err)
		}
		if len(body) == cap(body) {
			if body, err = c.grow(body, min(2*cap(body), int(c.maxBody())+1)); err != nil {
				return nil, err
			}
		}
	}
}

// arrived is the body of a request over HTTP/2.
type arrived interface {
	TakeWhole() (whole []byte, ok bool)
}

// grow returns the body in a buffer of a larger capacity, and charges what is added.
func (c *Call) grow(body []byte, capacity int) ([]byte, error) {
	if err := c.charge(capacity - cap(body)); err != nil {
		return nil, err
	}
	return append(make([]byte, 0, capacity), body...), nil
}

// charge charges bytes of the body, or refuses the request.
func (c *Call) charge(bytes int) error {
	if _, ok := c.temporary().bodies.Take(int64(bytes)); !ok {
		return status.NewTooManyRequests()
	}
	return nil
}

// maxBody is the size of the largest body that the endpoint takes.
func (c *Call) maxBody() int64 {
	if c.Endpoint != nil && c.Endpoint.MaxBody > 0 {
		return c.Endpoint.MaxBody
	}
	return MaxBodyBytes
}

// userName is the key of the user in what users share.
func (c *Call) userName() string {
	if c.User == nil {
		return ""
	}
	return c.User.Name
}

// broken returns the error for a body that the client did not send completely.
func broken(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return status.NewBadRequest("couldn't read the request body: " + err.Error())
}

// KeepEncoded takes memory for encoded bytes that are kept until they are sent. It reports false
// when the budget is spent.
func (c *Call) KeepEncoded(bytes int) bool {
	if !c.Encoded.take(int64(bytes)) {
		return false
	}
	c.temporary().encoded += int64(bytes)
	return true
}

// Release returns the memory that the call has taken, and drops the body. The handler of package
// apiserver calls it when the call ends. The call itself may stay reachable for a while: the
// runtime keeps a stopped timer, and with it the context of a deadline and its parents, until a
// quarter of the timers have been stopped.
func (c *Call) Release() {
	t := c.scratch
	if t == nil {
		return
	}
	c.collapse()
	t.bodies.Release()
	if t.encoded > 0 {
		c.Encoded.used.Add(-t.encoded)
	}
	t.answering.Release()
	c.scratch = nil
	c.scratches.put(t)
}
