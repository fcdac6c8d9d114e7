package watch

import (
	"encoding/binary"
	"io"
	"strconv"
	"strings"

	"quorate/apiserver/negotiate"
	"quorate/apiserver/schema"
	"quorate/apiserver/status"
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
	if st.opts.Table == nil {
		b = append(append(b, `{"kind":"`...), st.opts.Kind.Kind...)
		b = append(append(b, `","apiVersion":"`...), st.opts.Kind.APIVersion...)
		b = append(b, `",`...)
	}
	b = append(b, `"metadata":{"resourceVersion":"`...)
	b = strconv.AppendUint(b, position, 10)
	b = append(append(append(b, '"'), more...), '}')
	if st.opts.Table != nil {
		b = append(b, `,"rows":[]`...)
	}
	b = append(b, '}')
	if !st.opts.Form.Binary() {
		st.writeParts(marker, st.lead(), b)
		return
	}
	encoded, err := negotiate.AppendProtobuf(nil, b, st.opts.Kind)
	st.writeProtobuf(marker, encoded, err)
}

// send writes an object, stored bytes, that this stream alone has to do with.
func (st *Stream) send(head string, object []byte) {
	e := st.opts.Encoder
	if e == nil {
		st.writeJSON(head, object)
		return
	}
	made, err := e.Append(st.buffers.object[:0], object, at(e))
	st.writeMade(head, made, err)
	if cap(made) <= maxKept {
		st.buffers.object = made
	}
}

// share writes an object of a change, which other streams write too: what is sent is made once for all of them.
func (st *Stream) share(head string, object []byte) {
	if st.opts.Encoder == nil {
		st.writeJSON(head, object)
		return
	}
	made, err := st.streams.shared.encode(object, st.opts.Encoder)
	st.writeMade(head, made, err)
}

// buffers are those of a stream with an encoder.
type buffers struct{ object, head []byte }

// maxKept is how large a buffer a stream keeps for the next object.
const maxKept = 64 << 10

// lead returns what an object begins with, before what is made of it.
func (st *Stream) lead() string {
	switch {
	case st.opts.Table == nil:
		return ""
	case st.sent == 0:
		return st.opts.Table.First
	}
	return st.opts.Table.Later
}

// sendStatus writes the event that ends a stream.
func (st *Stream) sendStatus(s *status.Status) {
	if !st.opts.Form.Binary() {
		st.writeParts(failure, "", s.JSON())
		return
	}
	encoded, err := st.opts.Statuses.Encode(s, st.opts.Form)
	st.writeProtobuf(failure, encoded, err)
}

// writeJSON writes one event with an object as the kind serves it.
func (st *Stream) writeJSON(head string, object []byte) {
	prefix, rest, err := st.opts.Kind.Parts(object)
	if st.whole(err) {
		st.writeParts(head, prefix, rest)
	}
}

// writeMade writes one event with what the encoder made of an object.
func (st *Stream) writeMade(head string, made []byte, err error) {
	switch {
	case st.opts.Form.Binary():
		st.writeProtobuf(head, made, err)
	case st.whole(err):
		st.writeParts(head, st.lead(), made)
	}
}

// whole reports whether the stream goes on. An object that could not be converted or encoded ends it.
func (st *Stream) whole(err error) bool {
	if st.failed == nil {
		st.failed = err
	}
	return st.broken() == nil
}

// writeParts writes one event: constant pieces around shared bytes.
func (st *Stream) writeParts(head, prefix string, object []byte) {
	if st.err != nil {
		return
	}
	st.writing.Store(st.streams.ticks.Load())
	_, err := io.WriteString(st.w, head)
	if err == nil && prefix != "" {
		_, err = io.WriteString(st.w, prefix)
	}
	if err == nil {
		_, err = st.w.Write(object)
	}
	if err == nil {
		_, err = io.WriteString(st.w, tail)
	}
	st.wrote(err)
}

// writeProtobuf writes one event: its length, and a WatchEvent around shared bytes (D5).
func (st *Stream) writeProtobuf(head string, object []byte, err error) {
	if !st.whole(err) {
		return
	}
	st.buffers.head = appendFrameHead(st.buffers.head[:0], word(head), len(object))
	st.writing.Store(st.streams.ticks.Load())
	_, err = st.w.Write(st.buffers.head)
	if err == nil {
		_, err = st.w.Write(object)
	}
	st.wrote(err)
}

// wrote notes what the writer said of an event.
func (st *Stream) wrote(err error) {
	st.writing.Store(0)
	st.err = err
	st.sent++
}

// appendFrameHead appends all of a frame that comes before an object of so many bytes.
func appendFrameHead(b []byte, word string, object int) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(schema.WatchEventSize(word, object)))
	return schema.WatchEventHead(b, word, object)
}
