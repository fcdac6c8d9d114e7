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

// bookmark sends an object of the kind with nothing but a position (D25).
func (st *Stream) bookmark(position uint64, more string) {
	b := make([]byte, 0, 192)
	b = append(b, `{"kind":"`...)
	b = append(b, st.opts.Kind.Kind...)
	b = append(b, `","apiVersion":"`...)
	b = append(b, st.opts.Kind.APIVersion...)
	b = append(b, `","metadata":{"resourceVersion":"`...)
	b = strconv.AppendUint(b, position, 10)
	b = append(b, '"')
	b = append(b, more...)
	st.send(marker, append(b, "}}"...))
}

// send writes an object, compact JSON, that this stream alone has to do with.
func (st *Stream) send(head string, object []byte) {
	if !st.opts.Form.Binary() {
		st.writeJSON(head, object)
		return
	}
	encoded, err := negotiate.AppendProtobuf(st.protobuf.object[:0], object, st.opts.Kind)
	st.writeProtobuf(head, encoded, err)
	if cap(encoded) <= maxKept {
		st.protobuf.object = encoded
	}
}

// protobuf is what streams in that form have more.
type protobuf struct {
	object, head []byte // buffers
}

// maxKept is how large a buffer a stream keeps for the next object.
const maxKept = 64 << 10

// share writes an object of a change, which other streams write too: it is encoded once for all of them.
func (st *Stream) share(head string, object []byte) {
	if !st.opts.Form.Binary() {
		st.writeJSON(head, object)
		return
	}
	encoded, err := st.streams.shared.encode(object, st.opts.Kind)
	st.writeProtobuf(head, encoded, err)
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

// writeJSON writes one event with an object of the kind. One that could not be converted ends the stream.
func (st *Stream) writeJSON(head string, object []byte) {
	prefix, rest, err := st.opts.Kind.Parts(object)
	if st.failed == nil {
		st.failed = err
	}
	if st.broken() == nil {
		st.writeParts(head, prefix, rest)
	}
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

// writeProtobuf writes one event: its length, and a WatchEvent around shared bytes (D5). An object that could not be encoded
// ends the stream.
func (st *Stream) writeProtobuf(head string, object []byte, err error) {
	p := &st.protobuf
	if st.failed == nil {
		st.failed = err
	}
	if st.broken() != nil {
		return
	}
	p.head = appendFrameHead(p.head[:0], word(head), len(object))
	st.writing.Store(st.streams.ticks.Load())
	_, err = st.w.Write(p.head)
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
