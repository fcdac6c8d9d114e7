package appendrpc

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

const (
	lengthBytes = 4
	// maxFrameBytes bounds a request, which is buffered whole. It has few entries of together 1 MiB,
	// or one larger one (raftstore.MaxEntryBytes).
	maxFrameBytes = 16 << 20
	// readBytes is the size of the buffer of a connection that is read.
	readBytes = 64 << 10
	// maxSpareBytes bounds the buffers that a connection keeps between two frames.
	maxSpareBytes = 256 << 10
)

// errTooLarge reports a frame beyond maxFrameBytes.
var errTooLarge = errors.New("an append between nodes is too large")

// framed is a connection that carries frames. One goroutine may read and one may write.
type framed struct {
	net.Conn
	reader           *bufio.Reader
	in, out          []byte // the buffers of the last frames
	packed, unpacked []byte // those of compressed frames
}

func newFramed(c net.Conn) *framed {
	return &framed{Conn: c, reader: bufio.NewReaderSize(c, readBytes)}
}

// write writes the frame that encode appends to its argument.
func (f *framed) write(timeout time.Duration, encode func([]byte) []byte) error {
	b := encode(append(f.out[:0], make([]byte, lengthBytes)...))
	if f.out = b; cap(b) > maxSpareBytes {
		f.out = nil
	}
	if len(b)-lengthBytes > maxFrameBytes {
		return errTooLarge
	}
	flags := uint32(0)
	if packed, ok := f.compress(b[lengthBytes:]); ok {
		b, flags = packed, compressedFlag
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-lengthBytes)|flags)
	if err := f.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	_, err := f.Write(b)
	return err
}

// read returns the content of the next frame, which is valid until the next call. Once the frame
// has begun, it must arrive within bodyTimeout.
func (f *framed) read() ([]byte, error) {
	head, err := f.reader.Peek(lengthBytes)
	if err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head)
	size := int(length &^ compressedFlag)
	if size > maxFrameBytes {
		return nil, errTooLarge
	}
	if _, err := f.reader.Discard(lengthBytes); err != nil {
		return nil, err
	}
	if f.reader.Buffered() < size {
		if err := f.SetReadDeadline(time.Now().Add(bodyTimeout)); err != nil {
			return nil, err
		}
	}
	b := f.in
	if cap(b) < size {
		b = make([]byte, size)
	}
	b = b[:size]
	if f.in = b; cap(b) > maxSpareBytes {
		f.in = nil
	}
	if _, err := io.ReadFull(f.reader, b); err != nil {
		return nil, fmt.Errorf("read an append: %w", err)
	}
	if length&compressedFlag != 0 {
		return f.decompress(b)
	}
	return b, nil
}
