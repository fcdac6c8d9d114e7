package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// dialTimeout bounds the time to establish a connection, including the TLS handshake.
	dialTimeout = 3 * time.Second
	// pingAfter is the time after which a silent connection sends a ping, and the time limit for
	// the response: a peer whose packets are lost does not reset the connection.
	pingAfter = 2 * time.Second
	// reserveAttempts is the number of new connections that a request may find full before it
	// fails.
	reserveAttempts = 3
)

var (
	errClosed = errors.New("the client is closed")
	errFull   = errors.New("no connection has room for one more request")
)

// connection is one connection of a lane. Unlike with a pool, a request never moves to another
// connection.
type connection struct {
	*http.ClientConn
	number int
}

// lane keeps one connection to a node, and replaces it when it breaks or can take no more requests.
type lane struct {
	transport *http.Transport
	address   string
	numbers   *atomic.Int64 // of connections of all lanes

	mu      sync.Mutex // guards all below
	open    []*connection
	dialing *dial // nil: none is under way
	closed  bool
	dials   sync.WaitGroup
}

// dial is an attempt to connect, for which all requests that need a connection wait.
type dial struct {
	done   chan struct{} // closed at the end, after err is set
	cancel context.CancelFunc
	err    error
}

// reserve returns a connection with capacity for one request, which the caller must then make or
// release. After an error nothing was sent.
func (l *lane) reserve(ctx context.Context) (*connection, error) {
	for dials := 0; ; dials++ {
		conn, attempt, err := l.use()
		if conn != nil || err != nil {
			return conn, err
		}
		if dials == reserveAttempts {
			return nil, fmt.Errorf("%s: %w", l.address, errFull)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-attempt.done:
			if attempt.err != nil {
				return nil, attempt.err
			}
		}
	}
}

// use returns a connection with capacity, or the current attempt to make one.
func (l *lane) use() (*connection, *dial, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, nil, errClosed
	}
	usable := l.open[:0]
	var found *connection
	for _, conn := range l.open {
		if conn.Err() != nil {
			continue
		}
		usable = append(usable, conn)
		if found == nil && conn.Reserve() == nil {
			found = conn
		}
	}
	clear(l.open[len(usable):])
	l.open = usable
	if found != nil {
		return found, nil, nil
	}
	if l.dialing == nil {
		ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
		attempt := &dial{done: make(chan struct{}), cancel: cancel}
		l.dialing = attempt
		l.dials.Go(func() { l.dial(ctx, attempt) })
	}
	return nil, l.dialing, nil
}

func (l *lane) dial(ctx context.Context, attempt *dial) {
	defer close(attempt.done)
	defer attempt.cancel()
	made, err := l.transport.NewClientConn(ctx, "https", l.address)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dialing = nil
	switch {
	case err != nil:
		attempt.err = fmt.Errorf("connect to %s: %w", l.address, err)
	case l.closed:
		made.Close()
		attempt.err = errClosed
	default:
		l.open = append(l.open, &connection{made, int(l.numbers.Add(1))})
	}
}

// close closes all connections and waits for attempts to make one.
func (l *lane) close() {
	l.mu.Lock()
	l.closed = true
	for _, conn := range l.open {
		conn.Close()
	}
	if l.dialing != nil {
		l.dialing.cancel()
	}
	l.mu.Unlock()
	l.dials.Wait()
}
