package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// nameMark stands between the name and the address of a peer, where the library only knows addresses.
const nameMark = "@"

// stream is the Raft library's view of the Mux. Its address is the advertised one: the library writes it into requests.
type stream struct {
	*subListener
	mux     *Mux
	dialled *dialled
}

func (s stream) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(s.dialled.ctx, timeout)
	defer cancel()
	name, host, _ := strings.Cut(string(address), nameMark)
	c, err := s.mux.Dial(ctx, name, host, ProtocolRaft)
	if err != nil {
		return nil, &undialled{err}
	}
	c, err = s.dialled.add(c)
	if err != nil {
		return nil, &undialled{err}
	}
	return c, nil
}

// undialled says that there is no connection to a peer: the peer was not asked.
type undialled struct{ err error }

func (e *undialled) Error() string { return e.err.Error() }
func (e *undialled) Unwrap() error { return e.err }

// dialled are the connections to peers that are open, or being made.
type dialled struct {
	ctx    context.Context // of those being made
	cancel context.CancelFunc

	mu      sync.Mutex
	open    map[net.Conn]struct{}
	aborted bool
}

func newDialled() *dialled {
	d := &dialled{open: make(map[net.Conn]struct{})}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

var errAborted = errors.New("transport is closing")

func (d *dialled) add(c net.Conn) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.aborted {
		c.Close()
		return nil, errAborted
	}
	d.open[c] = struct{}{}
	return &dialledConn{c, d}, nil
}

func (d *dialled) abort() {
	d.cancel() // a peer that is cut off may take as long to be dialled as it likes
	d.mu.Lock()
	defer d.mu.Unlock()
	d.aborted = true
	for c := range d.open {
		if t, ok := c.(*tls.Conn); ok {
			c = t.NetConn() // TLS would wait to say goodbye to a peer that doesn't read
		}
		c.Close()
	}
	clear(d.open)
}

type dialledConn struct {
	net.Conn
	owner *dialled
}

func (c *dialledConn) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.open, c.Conn)
	c.owner.mu.Unlock()
	return c.Conn.Close()
}
