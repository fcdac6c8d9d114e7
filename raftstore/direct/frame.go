package direct

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
)

// A frame is its length in four bytes, without these, its kind in one byte, and its content.
const (
	lengthBytes = 4
	headBytes   = lengthBytes + 1
	// maxFrameBytes bounds one frame, which is buffered whole.
	maxFrameBytes = 16 << 20
	// readBytes is the size of the buffer of a connection that is read.
	readBytes = 64 << 10
	// maxSpareBytes bounds the buffer that a connection keeps between two frames.
	maxSpareBytes = 256 << 10
)

// kind says what a frame has.
type kind byte

const (
	kindMethod  kind = iota + 1 // the method of a stream
	kindHeader                  // the server has accepted the stream
	kindMessage                 // a message of a stream
	kindStatus                  // how the server has ended the stream
	kindCall                    // a request
	kindReturn                  // the response to a call
	kindPing                    // asks for a pong
	kindPong
)

// errTooLarge reports a frame beyond maxFrameBytes.
var errTooLarge = errors.New("a message between nodes is too large")

// framed is a connection that carries frames. One goroutine may read, any may write.
type framed struct {
	net.Conn
	reader   *bufio.Reader
	tooLarge func() // called for each frame that is too large

	writing sync.Mutex
	buf     []byte // of the last frame written
}

func newFramed(c net.Conn) *framed {
	return &framed{Conn: c, reader: bufio.NewReaderSize(c, readBytes), tooLarge: func() {}}
}

// write writes a frame whose content is head and then the message, which may be nil. It takes at
// most writeTimeout: a peer that does not read must not block the writer for longer.
func (f *framed) write(k kind, head []byte, message proto.Message) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	b := append(f.buf[:0], 0, 0, 0, 0, byte(k))
	b = append(b, head...)
	if message != nil {
		var err error
		if b, err = (proto.MarshalOptions{}).MarshalAppend(b, message); err != nil {
			return fmt.Errorf("encode message: %w", err)
		}
	}
	if f.buf = b; cap(b) > maxSpareBytes {
		f.buf = nil
	}
	if len(b)-lengthBytes > maxFrameBytes {
		f.tooLarge()
		return errTooLarge
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-lengthBytes))
	if err := f.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	_, err := f.Write(b)
	return err
}

// read returns the next frame, whose content is not used again. If no frame begins before the
// deadline of the connection, it returns a timeout, and may be called again.
func (f *framed) read() (kind, []byte, error) {
	head, err := f.reader.Peek(headBytes)
	if err != nil {
		return 0, nil, err
	}
	size := int64(binary.BigEndian.Uint32(head)) - 1
	k := kind(head[lengthBytes])
	if size < 0 || size >= maxFrameBytes {
		f.tooLarge()
		return 0, nil, errTooLarge
	}
	if _, err := f.reader.Discard(headBytes); err != nil {
		return 0, nil, err
	}
	if f.reader.Buffered() < int(size) {
		if err := f.SetReadDeadline(time.Now().Add(bodyTimeout)); err != nil {
			return 0, nil, err
		}
	}
	content := make([]byte, size)
	for n := 0; n < len(content); {
		read, err := f.reader.Read(content[n:])
		if err != nil {
			return 0, nil, fmt.Errorf("read a frame: %w", noTimeout{err})
		}
		n += read
	}
	return k, content, nil
}

// noTimeout is an error after which the connection can't be used again, even if it was a timeout.
type noTimeout struct{ err error }

func (e noTimeout) Error() string { return e.err.Error() }

// isTimeout reports whether no frame began before the deadline.
func isTimeout(err error) bool {
	t, is := errors.AsType[net.Error](err)
	return is && t.Timeout()
}
