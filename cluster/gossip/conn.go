package gossip

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"sync"
)

const (
	// encryptedType is memberlist's type of an encrypted message on a connection. The length of the
	// message follows.
	encryptedType = 10
	lengthBytes   = 4
)

// errStreamTooLong ends a connection that sends more than maxStreamBytes.
var errStreamTooLong = errors.New("more is sent than the state of a cluster takes")

// conn checks the first message that the peer sends before memberlist reads it, and reads at most
// maxStreamBytes. One goroutine reads from it.
type conn struct {
	net.Conn
	key     messageKey
	metrics *metrics
	// received is called with the result of the first message: nil, errOtherKey, errNotEncrypted,
	// or why no whole message came. Read returns the error that received returns.
	received func(error) error
	onClose  func()
	closing  sync.Once

	left    int    // bytes that may still be read
	begun   bool   // the first message was read
	message []byte // what memberlist has not read yet of the first message
	err     error  // what Read returns after message
}

// Read implements net.Conn. It returns errStreamTooLong once the bound is reached.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if !c.begun {
		c.begun = true
		var err error
		c.message, err = c.readMessage()
		c.err = c.received(err)
		if c.err != nil {
			c.message = nil
		}
	}
	if len(c.message) > 0 {
		n := copy(p, c.message)
		c.message = c.message[n:]
		return n, nil
	}
	if c.err != nil {
		return 0, c.err
	}
	return bounded{c}.Read(p)
}

// readMessage reads the first message. Of a message that is not encrypted it reads the type only.
func (c *conn) readMessage() ([]byte, error) {
	var message bytes.Buffer
	if _, err := io.CopyN(&message, bounded{c}, 1); err != nil {
		return nil, err
	}
	if message.Bytes()[0] != encryptedType {
		return message.Bytes(), errNotEncrypted
	}
	if _, err := io.CopyN(&message, bounded{c}, lengthBytes); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(message.Bytes()[1:])
	if length > uint32(c.left) {
		c.metrics.limits.WithLabelValues(limitStreamBytes).Inc()
		return nil, errStreamTooLong
	}
	if _, err := io.CopyN(&message, bounded{c}, int64(length)); err != nil {
		return nil, err
	}
	head := 1 + lengthBytes
	return message.Bytes(), c.key.check(message.Bytes()[head:], message.Bytes()[:head])
}

// bounded reads from the connection up to the bound.
type bounded struct{ c *conn }

func (b bounded) Read(p []byte) (int, error) {
	c := b.c
	if c.left == 0 {
		c.metrics.limits.WithLabelValues(limitStreamBytes).Inc()
		return 0, errStreamTooLong
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	if errors.Is(err, os.ErrDeadlineExceeded) { // memberlist's, of TCPTimeout
		c.metrics.limits.WithLabelValues(limitStreamTime).Inc()
	}
	return n, err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.closing.Do(c.onClose)
	return c.Conn.Close()
}
