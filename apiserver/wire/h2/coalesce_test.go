package h2

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// chunks is a connection whose reads return the given chunks one by one. It counts reads and
// records writes.
type chunks struct {
	net.Conn
	in     [][]byte
	reads  int
	writes [][]byte
	err    error
}

func (c *chunks) Read(p []byte) (int, error) {
	c.reads++
	if len(c.in) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.in[0])
	if c.in[0] = c.in[0][n:]; len(c.in[0]) == 0 {
		c.in = c.in[1:]
	}
	return n, nil
}

func (c *chunks) Write(p []byte) (int, error) {
	c.writes = append(c.writes, bytes.Clone(p))
	return len(p), c.err
}

// TestCoalescedReads: one read of the inner connection serves several small reads; a large read
// bypasses the buffer.
func TestCoalescedReads(t *testing.T) {
	large := bytes.Repeat([]byte("l"), 3*readBytes)
	inner := &chunks{in: [][]byte{[]byte("abcdefgh"), large}}
	var c Coalescer
	b := c.Wrap(inner)
	var got []byte
	for _, n := range []int{3, 1, 4} {
		p := make([]byte, n)
		if _, err := io.ReadFull(b, p); err != nil {
			t.Fatal(err)
		}
		got = append(got, p...)
	}
	if string(got) != "abcdefgh" || inner.reads != 1 {
		t.Errorf("%q in %d reads", got, inner.reads)
	}
	p := make([]byte, len(large))
	if n, err := b.Read(p); n != len(large) || err != nil || !bytes.Equal(p, large) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if n, err := b.Read(p[:1]); n != 0 || err != io.EOF {
		t.Errorf("%d bytes, %v at the end", n, err)
	}
}

// TestCoalescedWrites: the last of the expected calls of Write, or release, writes the held bytes
// at once and returns the error.
func TestCoalescedWrites(t *testing.T) {
	inner := &chunks{}
	var c Coalescer
	b := c.Wrap(inner)
	write := func(s string) {
		if n, err := io.WriteString(b, s); n != len(s) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	release := func() {
		if err := b.release(); err != nil {
			t.Fatal(err)
		}
	}
	write("a")
	b.hold(2)
	write("b")
	write("c")
	write("d") // one call more than hold expects
	release()
	b.hold(3)
	write("e")
	write("f") // one call fewer
	release()
	release()
	if got := bytes.Join(inner.writes, []byte("|")); string(got) != "a|bc|d|ef" {
		t.Errorf("%q", got)
	}
	inner.err = errors.New("broken")
	b.hold(1)
	if _, err := io.WriteString(b, "g"); err != inner.err {
		t.Errorf("%v", err)
	}
	b.hold(2)
	write("h")
	if err := b.release(); err != inner.err {
		t.Errorf("%v", err)
	}
}

// stuckConn is a connection on which writes of several records block until it is closed.
type stuckConn struct {
	net.Conn
	stuck  chan struct{} // receives a value when a write blocks
	closed chan struct{}
	once   sync.Once
}

func (c *stuckConn) Write(p []byte) (int, error) {
	if len(p) <= maxRecordBytes {
		return c.Conn.Write(p)
	}
	c.stuck <- struct{}{}
	<-c.closed
	return 0, net.ErrClosed
}

func (c *stuckConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

type stuckListener struct {
	net.Listener
	coalescer Coalescer
	stuck     chan struct{}
}

func (l *stuckListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.coalescer.Wrap(&stuckConn{Conn: c, stuck: l.stuck, closed: make(chan struct{})}), nil
}

// TestCloseInterruptsCoalescedWrite: a server closes a connection at once even while a coalesced
// write blocks.
func TestCloseInterruptsCoalescedWrite(t *testing.T) {
	stuck := make(chan struct{})
	s := startOn(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) }), Options{},
		func(l net.Listener) net.Listener { return &stuckListener{Listener: l, stuck: stuck} })
	r := dialTLS(t, s.addr, s.roots)
	r.handshake()
	r.get("/", true)
	<-stuck
	began := time.Now()
	if err := s.http.Close(); err != nil {
		t.Error(err)
	}
	// tls.Conn.Close would wait 5 s for a write other than its own.
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("closing took %v", took)
	}
}

// countingListener counts the writes on its connections, below TLS.
type countingListener struct {
	net.Listener
	coalescer Coalescer
	writes    atomic.Int64
}

type countingConn struct {
	net.Conn
	l *countingListener
}

func (c countingConn) Write(p []byte) (int, error) {
	c.l.writes.Add(1)
	return c.Conn.Write(p)
}

func (l *countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.coalescer.Wrap(countingConn{c, l}), nil
}

// TestRecordsAreCoalesced: one write carries several TLS records of a long response, which arrives
// complete.
func TestRecordsAreCoalesced(t *testing.T) {
	body := pattern(4 << 20)
	var counting *countingListener
	s := startOn(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }), Options{},
		func(l net.Listener) net.Listener {
			counting = &countingListener{Listener: l}
			return counting
		})
	_, got, err := do(t, s.client(t), "GET", s.url("/"), nil)
	if err != nil || got != string(body) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if n, records := counting.writes.Load(), int64(len(body)/maxRecordBytes); n > records/2 {
		t.Errorf("%d writes for %d records", n, records)
	}
}
