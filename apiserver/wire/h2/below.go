package h2

import (
	"crypto/tls"
	"net"
	"sync"
)

const (
	// readBytes is how much is read from a connection at a time: small records come in crowds.
	readBytes = 4 << 10
	// recordSlack is what TLS adds to writeBytes of payload: header, nonce, type and tag of each record.
	recordSlack = 64 * (writeBytes/maxRecordBytes + 1)
	// maxRecordBytes is the largest payload of a TLS record.
	maxRecordBytes = 16 << 10
)

// Below is a connection that TLS lies on, which makes one system call of many records, read or written: TLS itself makes one of each.
// Reads and writes may run side by side, as on any connection; reads not with each other.
type Below struct {
	net.Conn
	pool *sync.Pool // of *[]byte

	read    []byte // what has been read and not taken, within readBuf
	readBuf []byte

	mu    sync.Mutex
	held  *[]byte // what is collected; nil when nothing is
	calls int     // of Write, until what is collected goes out
}

// Underlay makes connections for TLS to lie on.
type Underlay struct{ pool sync.Pool }

// Under returns a connection for TLS, over another one.
func (u *Underlay) Under(c net.Conn) *Below { return &Below{Conn: c, pool: &u.pool} }

// Read implements net.Conn.
func (b *Below) Read(p []byte) (int, error) {
	if len(b.read) == 0 {
		if len(p) >= readBytes {
			return b.Conn.Read(p)
		}
		if b.readBuf == nil {
			b.readBuf = make([]byte, readBytes)
		}
		n, err := b.Conn.Read(b.readBuf)
		if n == 0 {
			return 0, err
		}
		b.read = b.readBuf[:n] // an error comes again with the next read
	}
	n := copy(p, b.read)
	b.read = b.read[n:]
	return n, nil
}

// Write implements net.Conn. What is held goes out with the last of the calls that it was held for.
func (b *Below) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held == nil {
		return b.Conn.Write(p)
	}
	*b.held = append(*b.held, p...)
	if b.calls--; b.calls > 0 {
		return len(p), nil
	}
	if err := b.flush(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// hold collects what so many calls of Write bring. That the last of them writes it, and not who has held it back, matters to TLS: closing
// a connection breaks off a write of its own, and would wait for another's.
func (b *Below) hold(calls int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	held, ok := b.pool.Get().(*[]byte)
	if !ok {
		fresh := make([]byte, 0, writeBytes+recordSlack)
		held = &fresh
	}
	b.held, b.calls = held, calls
}

// release writes what is still held, when there were fewer calls.
func (b *Below) release() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.flush()
}

// flush writes what is held. mu is held.
func (b *Below) flush() error {
	held := b.held
	if held == nil {
		return nil
	}
	b.held = nil
	_, err := b.Conn.Write(*held)
	*held = (*held)[:0]
	if cap(*held) <= maxPooledBytes {
		b.pool.Put(held)
	}
	return err
}

// writeRecords writes to the client, in one system call when it is TLS over a Below.
func (c *conn) writeRecords(p []byte) error {
	if c.below == nil || len(p) <= maxRecordBytes {
		_, err := c.nc.Write(p)
		return err
	}
	c.below.hold((len(p) + maxRecordBytes - 1) / maxRecordBytes)
	_, err := c.nc.Write(p)
	if failed := c.below.release(); err == nil {
		err = failed
	}
	return err
}

// belowOf returns what TLS lies on, when that is a Below.
func belowOf(nc net.Conn) *Below {
	t, ok := nc.(*tls.Conn)
	if !ok {
		return nil
	}
	b, _ := t.NetConn().(*Below)
	return b
}
