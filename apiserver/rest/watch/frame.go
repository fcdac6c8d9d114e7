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

// The constant pieces of a frame in JSON: {"type":"ADDED","object":{…}} and a line feed (D2–D4).
const (
	added    = `{"type":"ADDED","object":`
	modified = `{"type":"MODIFIED","object":`
	deleted  = `{"type":"DELETED","object":`
	failure  = `{"type":"ERROR","object":`
	marker   = `{"type":"BOOKMARK","object":`
	tail     = "}\n"
)

// eventType returns the type of the event that head begins.
func eventType(head string) string {
	return strings.TrimSuffix(strings.TrimPrefix(head, `{"type":"`), `","object":`)
}

// initialEventsEnd is the annotation of the bookmark that follows the initial events (D26).
const initialEventsEnd = `,"annotations":{"k8s.io/initial-events-end":"true"}`

// bookmark sends a BOOKMARK with the position as its resourceVersion.
func (st *Stream) bookmark(position uint64) { st.bookmarkWith(position, "", "") }

// bookmarkWith sends a BOOKMARK with further JSON members of its metadata, each after a comma. Its
// object is of the stream's kind (D25). A stream of Tables sends a Table without rows instead (B29)
// or, if there are fields, with one row, whose object has them and which begins with row.
func (st *Stream) bookmarkWith(position uint64, fields, row string) {
	b := make([]byte, 0, 192)
	if !st.opts.tables() {
		b = append(append(b, `{"kind":"`...), st.opts.Kind.Kind...)
		b = append(append(b, `","apiVersion":"`...), st.opts.Kind.APIVersion...)
		b = append(b, `",`...)
	}
	b = append(b, `"metadata":{"resourceVersion":"`...)
	b = strconv.AppendUint(b, position, 10)
	b = append(b, '"')
	switch {
	case !st.opts.tables():
		b = append(append(b, fields...), '}')
	case fields == "":
		b = append(b, `},"rows":[]`...)
	default:
		b = append(append(b, '}'), row...)
		b = strconv.AppendUint(b, position, 10)
		b = append(append(append(b, '"'), fields...), `}}}]`...)
	}
	b = append(b, '}')
	if !st.opts.Form.Binary() {
		st.write(jsonFrame(st.buffers.head, marker, st.opts.tablePrefix(st.sent == 0), b), nil)
		return
	}
	encoded, err := negotiate.AppendProtobuf(nil, b, st.opts.Kind)
	st.write(st.opts.frameEncoded(st.buffers.head, marker, encoded, false), err)
}

// send writes an event with stored bytes that no other stream sends, such as an initial object.
func (st *Stream) send(head string, object []byte) {
	p := &st.opts.Projection
	if p.Encoder == nil {
		st.write(p.frameStored(st.buffers.head, head, object))
		return
	}
	encoded, err := p.Encoder.Append(st.buffers.object[:0], object, encodingTime(p.Encoder))
	st.write(p.frameEncoded(st.buffers.head, head, encoded, st.sent == 0), err)
	if cap(encoded) <= maxBufferBytes {
		st.buffers.object = encoded
	}
}

// sendShared writes an event with the stored bytes of a change, which other streams send too: the
// streams share one encoding.
func (st *Stream) sendShared(head string, object []byte) {
	p := &st.opts.Projection
	st.write(p.frame(st.buffers.head, head, object, st.sent == 0, encodingTime(p.Encoder), &st.streams.cache))
}

// buffers are the reused buffers of one stream, for an encoded object that no other stream sends
// and for the head of a frame.
type buffers struct{ object, head []byte }

// maxBufferBytes is the largest object buffer that a stream reuses.
const maxBufferBytes = 64 << 10

// sendStatus writes the ERROR event that ends a stream.
func (st *Stream) sendStatus(s *status.Status) {
	if !st.opts.Form.Binary() {
		st.write(jsonFrame(st.buffers.head, failure, "", s.JSON()), nil)
		return
	}
	encoded, err := st.opts.statuses.Encode(s, st.opts.Form)
	st.write(st.opts.frameEncoded(st.buffers.head, failure, encoded, false), err)
}

// frame is the bytes of one event: constant pieces around the bytes of an object, which other
// frames may share. The head is valid until the next frame is made in the same buffer.
type frame struct {
	head, object []byte
	tail         string
}

func (f frame) size() int { return len(f.head) + len(f.object) + len(f.tail) }

func (f frame) appendTo(b []byte) []byte {
	return append(append(append(b, f.head...), f.object...), f.tail...)
}

// jsonFrame returns the frame of an object in JSON. It writes the head to buf.
func jsonFrame(buf []byte, head, prefix string, object []byte) frame {
	return frame{head: append(append(buf[:0], head...), prefix...), object: object, tail: tail}
}

// write writes one event, unless the stream has failed. A non-nil err, of converting or encoding
// the object, ends the stream.
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

// appendFrameHead appends the part of a protobuf frame that precedes an object of objectSize bytes.
func appendFrameHead(b []byte, eventType string, objectSize int) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(schema.WatchEventSize(eventType, objectSize)))
	return schema.WatchEventHead(b, eventType, objectSize)
}
