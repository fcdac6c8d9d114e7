package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/s2"
)

const (
	// magic begins a snapshot; its last byte is the version of the format.
	magic = "quorate\x01"
	// endChunk is the S2 chunk, of a kind that other readers skip, that ends a snapshot: the length
	// of the content. S2 itself has a checksum in each chunk, but can't tell an end from a cut
	// between two chunks.
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
	// One block after another, in the caller's goroutine: a snapshot must not take the second core
	// from the requests.
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

// Close writes what is left, and the end. It may be called again.
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

// Reader decompresses a snapshot, and checks it on the way: io.EOF comes only after all of it has
// been read and found whole. Any other end is *Corrupt, or the error of the reader beneath.
type Reader struct {
	from   io.Reader
	s2     *s2.Reader
	read   uint64
	length uint64 // as the end says
	begun  bool
	ended  bool
	err    error

	id, path string // for errors, when known
}

// NewReader returns a reader of what a Writer wrote to r. It may read less of r than there is only
// if it returns an error.
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

// end receives the last chunk.
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
	if l, ok := chunk.(*io.LimitedReader); ok && l.N > 0 { // S2 would pass over what is not there
		return s2.ErrCorrupt
	}
	r.ended, r.length = true, binary.LittleEndian.Uint64(b[:])
	return nil
}

// finish turns S2's last error into ours.
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
