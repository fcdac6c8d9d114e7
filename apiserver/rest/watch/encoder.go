package watch

import (
	"time"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/negotiate"
)

// Encoder makes of an object what a stream sends, where that is not the object's JSON. Encoders are compared: equal ones make the
// same of an object at a time, so that what was made for one stream is sent by others.
type Encoder interface {
	// Append appends what is made of stored bytes at a time, whole seconds.
	Append(dst, value []byte, now time.Time) ([]byte, error)
	// Ages reports whether the time matters.
	Ages() bool
}

// Table says how the Tables begin that a stream sends: the first object, and all others. The encoder makes what follows (B29).
type Table struct{ First, Later string }

// inProtobuf encodes objects of a kind.
type inProtobuf struct{ kind *schema.Kind }

func (e inProtobuf) Append(dst, value []byte, _ time.Time) ([]byte, error) {
	return negotiate.AppendProtobuf(dst, value, e.kind)
}

func (e inProtobuf) Ages() bool { return false }

// at is the time that an encoder makes something at: ages are told in whole seconds, so that within one the streams can share what
// is made. It is zero where the time does not matter.
func at(e Encoder) time.Time {
	if e == nil || !e.Ages() {
		return time.Time{}
	}
	return time.Now().Truncate(time.Second)
}
