package watch

import (
	"encoding/binary"
	"io"
	"strconv"
	"strings"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/negotiate"
	"quorate/apiserver/wire/status"
)

// The constant pieces of a frame: {"type":"ADDED","object":{…}} and a line feed (D2–D4).
const (
	added    = `{"type":"ADDED","object":`
	modified = `{"type":"MODIFIED","object":`
	deleted  = `{"type":"DELETED","object":`
	failure  = `{"type":"ERROR","object":`
	marker   = `{"type":"BOOKMARK","object":`
	tail     = "}\n"
)

// word is the type that a head names.
func word(head string) string {
	return strings.TrimSuffix(strings.TrimPrefix(head, `{"type":"`), `","object":`)
}

// initialEventsEnd is what the bookmark after the initial events says more (D26).
const initialEventsEnd = `,"annotations":{"k8s.io/initial-events-end":"true"}`

// bookmark sends an object of the kind with nothing but a position (D25), or a Table without rows (B29).
func (st *Stream) bookmark(position uint64, more string) {
	b := make([]byte, 0, 192)
	if !st.opts.tables() {
		b = append(append(b, `{"kind":"`...), st.opts.Kind.Kind...)
		b = append(append(b, `","apiVersion":"`...), st.opts.Kind.APIVersion...)
		b = append(b, `",`...)
	}
	b = append(b, `"metadata":{"resourceVersion":"`...)
	b = strconv.AppendUint(b, position, 10)
	b = append(append(append(b, '"'), more...), '}')
	if st.opts.tables() {
		b = append(b, `,"rows":[]`...)
	}
	b = append(b, '}')
	if !st.opts.Form.Binary() {
		st.write(frameText(st.buffers.head, marker, st.opts.lead(st.sent == 0), b), nil)
		return
	}
	encoded, err := negotiate.AppendProtobuf(nil, b, st.opts.Kind)
	st.write(st.opts.frameMade(st.buffers.head, marker, encoded, false), err)
}

// send writes an object, stored bytes, that this stream alone has to do with.
func (st *Stream) send(head string, object []byte) {
	p := &st.opts.Projection
	if p.Encoder == nil {
		st.write(p.frameStored(st.buffers.head, head, object))
		return
	}
	made, err := p.Encoder.Append(st.buffers.object[:0], object, at(p.Encoder))
	st.write(p.frameMade(st.buffers.head, head, made, st.sent == 0), err)
	if cap(made) <= maxKept {
		st.buffers.object = made
	}
}

// share writes an object of an event, which other streams write too: what is sent is made once for all of them.
func (st *Stream) share(head string, object []byte) {
	p := &st.opts.Projection
	st.write(p.frame(st.buffers.head, head, object, st.sent == 0, at(p.Encoder), &st.streams.shared))
}

// buffers are a stream's own: what is made of an object that no other stream sends, and what comes before an object in a frame.
type buffers struct{ object, head []byte }

// maxKept is how large a buffer a stream keeps for the next object.
const maxKept = 64 << 10

// sendStatus writes the event that ends a stream.
func (st *Stream) sendStatus(s *status.Status) {
	if !st.opts.Form.Binary() {
		st.write(frameText(st.buffers.head, failure, "", s.JSON()), nil)
		return
	}
	encoded, err := st.opts.Statuses.Encode(s, st.opts.Form)
	st.write(st.opts.frameMade(st.buffers.head, failure, encoded, false), err)
}

// frame is one event as it is sent: constant pieces around an object's bytes, which it shares. The head is good until
// the next frame is made in the same buffer.
type frame struct {
	head, object []byte
	tail         string
}

func (f frame) size() int { return len(f.head) + len(f.object) + len(f.tail) }

func (f frame) appendTo(b []byte) []byte {
	return append(append(append(b, f.head...), f.object...), f.tail...)
}

func frameText(buf []byte, head, prefix string, object []byte) frame {
	return frame{head: append(append(buf[:0], head...), prefix...), object: object, tail: tail}
}

// write writes one event. An object that could not be converted or encoded ends the stream.
func (st *Stream) write(f frame, err error) {
	st.buffers.head = f.head
	if st.failed == nil {
		st.failed = err
	}
	if st.broken() != nil {
		return
	}
	st.writing.Store(st.streams.ticks.Load())
	_, err = st.w.Write(f.head)
	if err == nil {
		_, err = st.w.Write(f.object)
	}
	if err == nil && f.tail != "" {
		_, err = io.WriteString(st.w, f.tail)
	}
	st.writing.Store(0)
	st.err = err
	st.sent++
}

// appendFrameHead appends all of a frame that comes before an object of so many bytes.
func appendFrameHead(b []byte, word string, object int) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(schema.WatchEventSize(word, object)))
	return schema.WatchEventHead(b, word, object)
}
