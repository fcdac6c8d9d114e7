package fsm

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const readBufferBytes = 256 << 10

// recordReader reads records and computes their checksum.
type recordReader struct {
	r    *bufio.Reader
	sum  uint32
	used int          // bytes of the last record, still in r's buffer
	big  bytes.Buffer // a record that r's buffer can't hold
}

func newRecordReader(r io.Reader) *recordReader {
	return &recordReader{r: bufio.NewReaderSize(r, readBufferBytes)}
}

// next returns the next record, which is valid until the following call. It returns io.EOF at the
// end of the stream, and io.ErrUnexpectedEOF if the stream ends within the record.
func (r *recordReader) next() ([]byte, error) {
	if err := r.release(); err != nil {
		return nil, err
	}
	prefix, err := r.r.Peek(binary.MaxVarintLen64)
	if err != nil && (len(prefix) == 0 || !errors.Is(err, io.EOF)) {
		return nil, err
	}
	size, n := binary.Uvarint(prefix)
	if n == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	if n < 0 || size > maxRecordBytes {
		return nil, corrupt("a record claims to be larger than %d bytes", maxRecordBytes)
	}
	r.sum = checksum(r.sum, prefix[:n])
	if _, err := r.r.Discard(n); err != nil {
		return nil, err
	}
	record, err := r.body(int(size))
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	r.sum = checksum(r.sum, record)
	return record, nil
}

func (r *recordReader) body(size int) ([]byte, error) {
	if size > readBufferBytes {
		r.big.Reset() // grows with the bytes read: a damaged length may claim any number
		_, err := io.CopyN(&r.big, r.r, int64(size))
		return r.big.Bytes(), err
	}
	r.used = size
	return r.r.Peek(size)
}

// release frees the buffer space of the last record.
func (r *recordReader) release() error {
	_, err := r.r.Discard(r.used)
	r.used = 0
	return err
}

// end checks that the stream ends here. Reading to the end also lets a decompressor verify its own
// checksum.
func (r *recordReader) end() error {
	if err := r.release(); err != nil {
		return err
	}
	switch _, err := r.r.ReadByte(); {
	case err == nil:
		return corrupt("there is more after the trailer")
	case errors.Is(err, io.EOF):
		return nil
	default:
		return fmt.Errorf("read the end of a snapshot: %w", err)
	}
}
