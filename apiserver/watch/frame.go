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
		st.write(st.frameText(marker, st.lead(), b), nil)
		return
	}
	encoded, err := negotiate.AppendProtobuf(nil, b, st.opts.Kind)
	st.write(st.frameMade(marker, encoded), err)
}

// send writes an object, stored bytes, that this stream alone has to do with.
func (st *Stream) send(head string, object []byte) {
	e := st.opts.Encoder
	if e == nil {
		st.write(st.frameStored(head, object))
		return
	}
	made, err := e.Append(st.buffers.object[:0], object, at(e))
	st.write(st.frameMade(head, made), err)
	if cap(made) <= maxKept {
		st.buffers.object = made
	}
}

// share writes an object of a change, which other streams write too: what is sent is made once for all of them.
func (st *Stream) share(head string, object []byte) {
	st.write(st.frameShared(head, object))
}

// frameShared is the frame of a change's object.
func (st *Stream) frameShared(head string, object []byte) (frame, error) {
	if st.opts.Encoder == nil {
		return st.frameStored(head, object)
	}
	made, err := st.streams.shared.encode(object, st.opts.Encoder)
	return st.frameMade(head, made), err
}

// buffers are a stream's own: what is made of an object that no other stream sends, and what comes before an object in a frame.
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
		st.write(st.frameText(failure, "", s.JSON()), nil)
		return
	}
	encoded, err := st.opts.Statuses.Encode(s, st.opts.Form)
	st.write(st.frameMade(failure, encoded), err)
}

// frame is one event as it is sent: constant pieces around an object's bytes, which it shares. The head is the stream's own, and good until
// its next frame.
type frame struct {
	head, object []byte
	tail         string
}

func (f frame) size() int { return len(f.head) + len(f.object) + len(f.tail) }

func (f frame) appendTo(b []byte) []byte {
	return append(append(append(b, f.head...), f.object...), f.tail...)
}

// frameStored is the frame of stored bytes as the kind serves them in JSON.
func (st *Stream) frameStored(head string, object []byte) (frame, error) {
	prefix, rest, err := st.opts.Kind.Parts(object)
	return st.frameText(head, prefix, rest), err
}

// frameMade is the frame of what the encoder made of an object: in protobuf its length, and a WatchEvent around it (D5).
func (st *Stream) frameMade(head string, made []byte) frame {
	if !st.opts.Form.Binary() {
		return st.frameText(head, st.lead(), made)
	}
	st.buffers.head = appendFrameHead(st.buffers.head[:0], word(head), len(made))
	return frame{head: st.buffers.head, object: made}
}

func (st *Stream) frameText(head, prefix string, object []byte) frame {
	st.buffers.head = append(append(st.buffers.head[:0], head...), prefix...)
	return frame{head: st.buffers.head, object: object, tail: tail}
}

// write writes one event. An object that could not be converted or encoded ends the stream.
func (st *Stream) write(f frame, err error) {
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
