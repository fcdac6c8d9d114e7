package transport

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// nameSeparator stands between the name and the address of a peer where the library has only an
// address.
const nameSeparator = "@"

// stream is the Raft library's view of the Mux. Its address is the advertised one, which the
// library writes into requests.
type stream struct {
	*subListener
	mux      *Mux
	dialled  *dialled
	accepted *accepted
}

// Accept implements raft.StreamLayer.
func (s stream) Accept() (net.Conn, error) {
	c, err := s.subListener.Accept()
	if err != nil {
		return nil, err
	}
	return s.accepted.add(c)
}

func (s stream) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	target, install := strings.CutSuffix(string(address), installSuffix)
	c, err := s.dial(target, ProtocolRaft, timeout)
	if err != nil {
		return nil, &dialError{err}
	}
	if install {
		c = &installConn{Conn: c}
	}
	return c, nil
}

// dial connects for a protocol to an address with the peer's name in front.
func (s stream) dial(target, protocol string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(s.dialled.ctx, timeout)
	defer cancel()
	name, host, _ := strings.Cut(target, nameSeparator)
	c, err := s.mux.Dial(ctx, name, host, protocol)
	if err != nil {
		return nil, err
	}
	return s.dialled.add(name, c)
}

// dialError reports that no connection to the peer was made, so the peer did not receive the
// request.
type dialError struct{ err error }

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

// dialled holds the connections to peers that are open or being made.
type dialled struct {
	ctx    context.Context // for dialling
	cancel context.CancelFunc

	mu      sync.Mutex
	open    map[net.Conn]string // the peer's name by connection
	aborted bool
}

func newDialled() *dialled {
	d := &dialled{open: make(map[net.Conn]string)}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

var errAborted = errors.New("transport is closing")

func (d *dialled) add(name string, c net.Conn) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.aborted {
		c.Close()
		return nil, errAborted
	}
	d.open[c] = name
	return &dialledConn{c, d}, nil
}

func (d *dialled) abort() {
	d.cancel() // dialling an unreachable peer may otherwise take until its timeout
	d.mu.Lock()
	defer d.mu.Unlock()
	d.aborted = true
	for c := range d.open {
		cutOff(c)
	}
	clear(d.open)
}

// disconnect closes the connections to a peer. New ones may be made.
func (d *dialled) disconnect(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c, peer := range d.open {
		if peer == name {
			cutOff(c)
			delete(d.open, c)
		}
	}
}

// cutOff closes the TCP connection below TLS, because TLS would first send an alert, which waits
// for a peer that doesn't read.
func cutOff(c net.Conn) {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok { // a tls.Conn, or an accepted one
		c = t.NetConn()
	}
	c.Close()
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
