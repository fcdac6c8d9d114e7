package watch

import (
	"time"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/negotiate"
)

// Encoder converts stored objects to the bytes that a stream sends, for streams that do not send
// the stored JSON. Encoders are comparable: equal encoders append the same bytes for the same
// object at the same time, so that streams can share these bytes.
type Encoder interface {
	// Append appends the encoding of stored bytes to dst. Now is in whole seconds, or zero if Ages
	// returns false.
	Append(dst, value []byte, now time.Time) ([]byte, error)
	// Ages reports whether the encoding depends on the time.
	Ages() bool
}

// Table holds the JSON with which the Tables of a stream begin: First for the first Table, which
// has the column definitions, Later for all others. The Encoder appends the rest (B29).
type Table struct{ First, Later string }

// protobufEncoder encodes the objects of a kind in protobuf.
type protobufEncoder struct{ kind *schema.Kind }

// Append implements Encoder.
func (e protobufEncoder) Append(dst, value []byte, _ time.Time) ([]byte, error) {
	return negotiate.AppendProtobuf(dst, value, e.kind)
}

// Ages implements Encoder.
func (e protobufEncoder) Ages() bool { return false }

// encodingTime returns the time for e to encode at: the current second, so that streams share one
// encoding for a second, or zero if e is nil or ignores the time.
func encodingTime(e Encoder) time.Time {
	if e == nil || !e.Ages() {
		return time.Time{}
	}
	return time.Now().Truncate(time.Second)
}
