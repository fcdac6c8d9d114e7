package h2

import (
	"crypto/tls"
	"net"
	"sync"
)

const (
	// readBytes is the size of a read buffer. One read often returns several small records.
	readBytes = 4 << 10
	// recordSlack is the overhead of TLS for writeBytes of payload: the header, nonce, type and tag
	// of each record.
	recordSlack = 64 * (writeBytes/maxRecordBytes + 1)
	// maxRecordBytes is the largest payload of a TLS record.
	maxRecordBytes = 16 << 10
)

// CoalescingConn is a connection for TLS to run over. crypto/tls makes one system call for each TLS
// record. A CoalescingConn reads several small records with one call, and after hold also writes
// several. Reads and writes may run concurrently, but not two reads.
type CoalescingConn struct {
	net.Conn
	pool *sync.Pool // of *[]byte

	read    []byte // the unread part of readBuf
	readBuf []byte

	mu    sync.Mutex
	held  *[]byte // bytes collected by Write; nil if Write passes them on
	calls int     // of Write, until held is written
}

// Coalescer makes CoalescingConns that share a pool of buffers. The zero value is ready to use.
type Coalescer struct{ pool sync.Pool }

// Wrap returns a connection for TLS to run over, which reads from and writes to c.
func (u *Coalescer) Wrap(c net.Conn) *CoalescingConn { return &CoalescingConn{Conn: c, pool: &u.pool} }

// NetConn returns the connection that it reads from and writes to.
func (b *CoalescingConn) NetConn() net.Conn { return b.Conn }

// Read implements net.Conn.
func (b *CoalescingConn) Read(p []byte) (int, error) {
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
		b.read = b.readBuf[:n] // the next read returns the error again
	}
	n := copy(p, b.read)
	b.read = b.read[n:]
	return n, nil
}

// Write implements net.Conn. After hold(n), the n-th call writes the bytes of all n calls.
func (b *CoalescingConn) Write(p []byte) (int, error) {
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

// hold makes Write collect the bytes of the given number of calls. The last of these calls writes
// all of them, rather than the caller of hold, because tls.Conn.Close interrupts a write of
// tls.Conn's own but would wait for any other.
func (b *CoalescingConn) hold(calls int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	held, ok := b.pool.Get().(*[]byte)
	if !ok {
		fresh := make([]byte, 0, writeBytes+recordSlack)
		held = &fresh
	}
	b.held, b.calls = held, calls
}

// release writes the bytes still held, if Write was called less often than hold expected.
func (b *CoalescingConn) release() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.flush()
}

// flush writes the held bytes. mu is held.
func (b *CoalescingConn) flush() error {
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

// writeRecords writes p to the client, with one system call if TLS runs over a CoalescingConn.
func (c *conn) writeRecords(p []byte) error {
	if c.coalescing == nil || len(p) <= maxRecordBytes {
		_, err := c.nc.Write(p)
		return err
	}
	c.coalescing.hold((len(p) + maxRecordBytes - 1) / maxRecordBytes)
	_, err := c.nc.Write(p)
	if failed := c.coalescing.release(); err == nil {
		err = failed
	}
	return err
}

// coalescingConnOf returns the CoalescingConn that TLS runs over, or nil if nc is not such a
// connection.
func coalescingConnOf(nc net.Conn) *CoalescingConn {
	t, ok := nc.(*tls.Conn)
	if !ok {
		return nil
	}
	b, _ := t.NetConn().(*CoalescingConn)
	return b
}
