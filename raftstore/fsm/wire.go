package fsm

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Messages on the hot paths are decoded by hand: fields are slices of the input, and decoding
// allocates nothing.

var (
	errFieldType  = errors.New("unexpected wire type")
	errFieldRange = errors.New("value out of range")
)

// field is one field of a protobuf message.
type field struct {
	number protowire.Number
	kind   protowire.Type
	bytes  []byte // when length-delimited
	varint uint64 // when a varint
}

// eachField calls fn with the fields of a message in wire order.
func eachField(message []byte, fn func(field) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		f := field{number: number, kind: kind}
		switch kind {
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			f.varint, n = protowire.ConsumeVarint(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return fmt.Errorf("field %d: %w", number, protowire.ParseError(n))
		}
		message = message[n:]
		if err := fn(f); err != nil {
			return fmt.Errorf("field %d: %w", number, err)
		}
	}
	return nil
}

func (f field) toBytes(to *[]byte) error {
	if f.kind != protowire.BytesType {
		return errFieldType
	}
	*to = f.bytes
	return nil
}

func (f field) toUint64(to *uint64) error {
	if f.kind != protowire.VarintType {
		return errFieldType
	}
	*to = f.varint
	return nil
}

func (f field) toInt64(to *int64) error {
	if f.kind != protowire.VarintType {
		return errFieldType
	}
	*to = int64(f.varint) // as protobuf encodes negative numbers
	return nil
}

func (f field) toUint32(to *uint32) error {
	if f.kind != protowire.VarintType {
		return errFieldType
	}
	if f.varint > math.MaxUint32 {
		return errFieldRange
	}
	*to = uint32(f.varint)
	return nil
}

func (f field) toBool(to *bool) error {
	if f.kind != protowire.VarintType {
		return errFieldType
	}
	*to = f.varint != 0
	return nil
}
