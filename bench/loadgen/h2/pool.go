package h2

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// Request is one request. All of it but the path and the body should be the same for many requests,
// because the connection remembers their compressed form.
type Request struct {
	Method, Path string
	Header       [][2]string // names in lower case
	Body         []byte
}

// Response is the response to a request.
type Response struct {
	Status int
	Began  time.Time // when the headers arrived
	Body   []byte
}

// Pool is the connections to one server.
type Pool struct {
	scheme, authority string
	dial              func(context.Context) (net.Conn, error)

	mu    sync.Mutex
	conns []*conn
}

// NewPool returns a Pool without a connection. It dials the first one when there is a request, and
// another one when the server allows no more requests at once on those that it has.
func NewPool(scheme, authority string, dial func(context.Context) (net.Conn, error)) *Pool {
	return &Pool{scheme: scheme, authority: authority, dial: dial}
}

// maxRefusals is how often a request is repeated.
const maxRefusals = 10

// Do sends a request and waits for the whole response. The body is appended to into. It repeats a
// request that the server has refused before doing anything for it (RFC 9113 §8.7): so servers end
// requests too many, also those that precede their settings.
func (p *Pool) Do(ctx context.Context, r *Request, into []byte) (Response, error) {
	for refusals := 0; ; refusals++ {
		c, err := p.reserve(ctx)
		if err != nil {
			return Response{Body: into}, err
		}
		response, err := c.do(ctx, r, into)
		c.release()
		if !errors.Is(err, errRefused) || refusals == maxRefusals {
			return response, err
		}
	}
}

// Close ends all connections that take requests, and returns when nothing reads from them. Those that
// the server has sent away end with their last request.
func (p *Pool) Close() {
	p.mu.Lock()
	conns := p.conns
	p.conns = nil
	p.mu.Unlock()
	for _, c := range conns {
		c.fail(net.ErrClosed)
		<-c.ended
	}
}

// reserve returns a connection that takes one more request.
func (p *Pool) reserve(ctx context.Context) (*conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	live := p.conns[:0]
	var free *conn
	for _, c := range p.conns {
		usable, reserved := c.reserve(free == nil)
		if usable {
			live = append(live, c)
		}
		if reserved {
			free = c
		}
	}
	p.conns = live
	if free != nil {
		return free, nil
	}
	nc, err := p.dial(ctx)
	if err != nil {
		return nil, err
	}
	c, err := newConn(nc, p.scheme, p.authority)
	if err != nil {
		return nil, err
	}
	c.reserve(true)
	p.conns = append(p.conns, c)
	return c, nil
}
