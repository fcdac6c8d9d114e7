package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/s2"
)

const (
	// magic starts a snapshot; its last byte is the version of the format.
	magic = "quorate\x01"
	// endChunk is the type of the S2 chunk that ends a snapshot and contains the length of the
	// content; other S2 readers skip it. Each S2 chunk has a checksum, but S2 alone can't
	// distinguish the end of a stream from a truncation between two chunks.
	endChunk = 0x80
	endBytes = 8
)

// Writer compresses a snapshot.
type Writer struct {
	to      io.Writer
	s2      *s2.Writer
	written uint64
	begun   bool
	closed  bool
}

// NewWriter returns a writer that compresses into w. The snapshot is complete once Close has
// returned nil; w stays open.
func NewWriter(w io.Writer) *Writer {
	// The caller's goroutine compresses one block after another: a snapshot must not take the
	// second core from requests.
	return &Writer{to: w, s2: s2.NewWriter(w, s2.WriterConcurrency(1))}
}

func (w *Writer) begin() error {
	if w.begun {
		return nil
	}
	w.begun = true
	if _, err := io.WriteString(w.to, magic); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return nil
}

func (w *Writer) Write(p []byte) (int, error) {
	if err := w.begin(); err != nil {
		return 0, err
	}
	n, err := w.s2.Write(p)
	w.written += uint64(n)
	if err != nil {
		return n, fmt.Errorf("write snapshot: %w", err)
	}
	return n, nil
}

// Close flushes the compressor and writes the end chunk. It may be called again.
func (w *Writer) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	if err := w.begin(); err != nil {
		return errors.Join(err, w.s2.Close())
	}
	if err := w.s2.Flush(); err != nil {
		return errors.Join(fmt.Errorf("write snapshot: %w", err), w.s2.Close())
	}
	if err := w.s2.AddSkippableBlock(endChunk, binary.LittleEndian.AppendUint64(nil, w.written)); err != nil {
		return errors.Join(fmt.Errorf("write end of snapshot: %w", err), w.s2.Close())
	}
	if err := w.s2.Close(); err != nil {
		return fmt.Errorf("write end of snapshot: %w", err)
	}
	return nil
}

// Reader decompresses a snapshot and checks it: io.EOF means that all of it has been read and is
// undamaged. Any other end is *Corrupt or an error of the underlying reader.
type Reader struct {
	from   io.Reader
	s2     *s2.Reader
	read   uint64
	length uint64 // of the content, from the end chunk
	begun  bool
	ended  bool
	err    error

	id, path string // for errors, if known
}

// NewReader returns a reader of the content that a Writer wrote to r. It reads r to the end unless
// it returns an error.
func NewReader(r io.Reader) *Reader {
	rd := &Reader{from: r}
	rd.s2 = s2.NewReader(r, s2.ReaderSkippableCB(endChunk, rd.end))
	return rd
}

func (r *Reader) Read(p []byte) (n int, err error) {
	if r.err != nil {
		return 0, r.err
	}
	if !r.begun {
		if r.err = r.begin(); r.err != nil {
			return 0, r.err
		}
	}
	n, err = r.s2.Read(p)
	r.read += uint64(n)
	switch {
	case err != nil:
		r.err = r.finish(err)
	case r.ended && n > 0:
		r.err = r.corrupt("goes on after its end")
	}
	return n, r.err
}

func (r *Reader) begin() error {
	r.begun = true
	var head [len(magic)]byte
	switch _, err := io.ReadFull(r.from, head[:]); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return r.corrupt("is cut short")
	case err != nil:
		return fmt.Errorf("read snapshot: %w", err)
	case string(head[:]) == magic:
		return nil
	case string(head[:len(magic)-1]) == magic[:len(magic)-1]:
		return r.corrupt(fmt.Sprintf("has format %d, which this version can't read", head[len(magic)-1]))
	default:
		return r.corrupt("is not a snapshot of quorate")
	}
}

// end reads the end chunk.
func (r *Reader) end(chunk io.Reader) error {
	if r.ended {
		return s2.ErrCorrupt
	}
	var b [endBytes]byte
	if _, err := io.ReadFull(chunk, b[:]); errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	} else if err != nil {
		return err
	}
	if l, ok := chunk.(*io.LimitedReader); ok && l.N > 0 { // S2 ignores a truncated chunk
		return s2.ErrCorrupt
	}
	r.ended, r.length = true, binary.LittleEndian.Uint64(b[:])
	return nil
}

// finish returns the error to report for S2's last one.
func (r *Reader) finish(err error) error {
	switch {
	case err == io.EOF && !r.ended, errors.Is(err, io.ErrUnexpectedEOF):
		return r.corrupt("is cut short")
	case err == io.EOF && r.length != r.read:
		return r.corrupt(fmt.Sprintf("is damaged: %d bytes where there should be %d", r.read, r.length))
	case err == io.EOF:
		return io.EOF
	case errors.Is(err, s2.ErrCorrupt), errors.Is(err, s2.ErrCRC), errors.Is(err, s2.ErrUnsupported), errors.Is(err, s2.ErrTooLarge):
		return r.corrupt(fmt.Sprintf("is damaged (%v)", err))
	default:
		return fmt.Errorf("read snapshot: %w", err)
	}
}

func (r *Reader) corrupt(reason string) error {
	return &Corrupt{ID: r.id, Path: r.path, Reason: reason}
}
