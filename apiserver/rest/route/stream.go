package route

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/klauspost/compress/gzip"

	"quorate/apiserver/wire/negotiate"
)

const (
	// chunkBytes is how much of a long response is buffered before it is written.
	chunkBytes = 64 << 10
	// gzipBytes is about the memory of a compressor.
	gzipBytes = 768 << 10
)

// ErrGone reports that the client stopped reading a response that had begun. It is nobody's fault,
// and no Status can be sent.
var ErrGone = errors.New("the client takes no more of the answer")

// gone marks an error of the response writer, which is about the client, as ErrGone.
func gone(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrGone, err)
}

// Stream writes a long response piece by piece with constant memory: append to Buf, call Spill now
// and then, and Close at the end. Nothing is sent before the first Spill that writes, so that
// earlier errors can still become a Status.
//
// The call keeps its seats while it produces the response, but may lose them while a write waits
// for the client. The memory of the response is charged to the budget of responses.
type Stream struct {
	Buf []byte

	call        *Call
	contentType []string
	code        int
	limit       int
	started     bool
	gzip        *gzip.Writer
}

// Stream begins a long response.
func (c *Call) Stream(form negotiate.Form) *Stream { return c.stream(values.content[form]) }

func (c *Call) stream(contentType []string) *Stream {
	s := &Stream{call: c, contentType: contentType, code: http.StatusOK, limit: chunkBytes}
	if negotiate.TakesGzip(c.R) {
		s.limit = gzipFrom // only a response larger than this is compressed
	}
	return s
}

// Reserve grows the buffer of a response that is expected to be long.
func (s *Stream) Reserve() { s.Buf = slices.Grow(s.Buf, chunkBytes+chunkBytes/8) }

// Spill writes the buffer if it holds at least a chunk.
func (s *Stream) Spill() error {
	if len(s.Buf) < s.limit {
		return nil
	}
	return s.write()
}

// Close writes the rest of the response.
func (s *Stream) Close() error {
	if !s.started && len(s.Buf) <= s.limit {
		return s.whole()
	}
	if err := s.write(); err != nil {
		return err
	}
	if s.gzip != nil {
		return gone(s.gzip.Close())
	}
	return nil
}

// whole writes a response that fits into the buffer.
func (s *Stream) whole() error {
	s.started = true
	if err := s.call.hold(len(s.Buf)); err != nil {
		return err
	}
	if len(s.Buf) > slowBody {
		if err := s.call.limitWrite(); err != nil {
			return err
		}
	}
	s.call.W.Header()["Content-Type"] = s.contentType
	s.call.Seat.Leave()
	s.call.W.WriteHeader(s.code)
	_, err := s.call.W.Write(s.Buf)
	return gone(err)
}

func (s *Stream) write() error {
	if !s.started {
		if err := s.start(); err != nil {
			return err
		}
	}
	var w io.Writer = s.call.W
	if s.gzip != nil {
		w = s.gzip
	}
	_, err := w.Write(s.Buf)
	s.Buf = s.Buf[:0]
	return gone(err)
}

func (s *Stream) start() error {
	s.started = true
	memory := max(cap(s.Buf), chunkBytes)
	if s.limit == gzipFrom {
		memory += gzipBytes
	}
	if err := s.call.hold(memory); err != nil && !s.call.writes() {
		return err
	}
	if err := s.call.limitWrite(); err != nil {
		return err
	}
	h := s.call.W.Header()
	h["Content-Type"] = s.contentType
	if s.limit == gzipFrom {
		h["Content-Encoding"], h["Vary"] = values.gzip, slices.Concat(h["Vary"], values.vary)
		compressed, err := gzip.NewWriterLevel(s.call.W, gzip.BestSpeed)
		if err != nil {
			return fmt.Errorf("begin compressed answer: %w", err)
		}
		s.gzip = compressed
		s.limit = chunkBytes
	}
	s.call.W.WriteHeader(s.code)
	return nil
}
