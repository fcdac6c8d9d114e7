package transport

import (
	"net"
	"sync"
)

// accepted holds the connections of peers that the Raft library serves. The library neither closes
// them nor waits for their goroutines, which log until they close their connection.
type accepted struct {
	serving sync.WaitGroup

	mu     sync.Mutex
	open   map[*acceptedConn]struct{}
	closed bool
}

func newAccepted() *accepted { return &accepted{open: make(map[*acceptedConn]struct{})} }

// add returns a connection to be served in place of c, or closes c and returns net.ErrClosed.
func (a *accepted) add(c net.Conn) (net.Conn, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		cutOff(c)
		c.Close()
		return nil, net.ErrClosed
	}
	served := &acceptedConn{Conn: c, owner: a}
	a.open[served] = struct{}{}
	a.serving.Add(1)
	return served, nil
}

// close breaks the connections, lets no more be added, and waits until all are closed.
func (a *accepted) close() {
	a.mu.Lock()
	a.closed = true
	for c := range a.open {
		cutOff(c.Conn)
	}
	a.mu.Unlock()
	a.serving.Wait()
}

// acceptedConn is a connection that the goroutine that serves it closes last of all.
type acceptedConn struct {
	net.Conn
	owner *accepted
}

func (c *acceptedConn) Close() error {
	err := c.Conn.Close()
	c.owner.mu.Lock()
	defer c.owner.mu.Unlock()
	if _, open := c.owner.open[c]; open {
		delete(c.owner.open, c)
		c.owner.serving.Done()
	}
	return err
}
