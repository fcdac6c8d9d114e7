package schema

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// protobufMagic begins every protobuf body and stored object (B20).
const protobufMagic = "k8s\x00"

// Keys of the messages around objects. Unknown{1: TypeMeta{1: apiVersion, 2: kind}, 2: raw, 3:
// contentEncoding, 4: contentType}, WatchEvent{1: type, 2: RawExtension{1: raw}}, list{1: ListMeta,
// 2: items}.
const (
	keyFirst     = 1<<wireTypeBits | wireBytes
	keySecond    = 2<<wireTypeBits | wireBytes
	keyThird     = 3<<wireTypeBits | wireBytes
	keyFourth    = 4<<wireTypeBits | wireBytes
	keyRemaining = 4<<wireTypeBits | wireVarint // remainingItemCount of ListMeta
)

// AppendEnvelope appends the envelope of an object's protobuf bytes (B20), with them in it.
func AppendEnvelope(dst []byte, apiVersion, kind string, raw []byte) []byte {
	dst = EnvelopeHead(dst, apiVersion, kind, len(raw))
	dst = append(dst, raw...)
	return EnvelopeTail(dst)
}

// EnvelopeHead appends what comes before the rawSize bytes of the object; EnvelopeTail appends what
// comes after them.
func EnvelopeHead(dst []byte, apiVersion, kind string, rawSize int) []byte {
	dst = append(dst, protobufMagic...)
	dst = append(dst, keyFirst)
	dst = binary.AppendUvarint(dst, uint64(1+sizeSized(len(apiVersion))+1+sizeSized(len(kind))))
	dst = appendSized(dst, keyFirst, apiVersion)
	dst = appendSized(dst, keySecond, kind)
	dst = append(dst, keySecond)
	return binary.AppendUvarint(dst, uint64(rawSize))
}

// EnvelopeTail appends what comes after the object: the encoding and the type of the content, both
// empty.
func EnvelopeTail(dst []byte) []byte {
	return append(dst, keyThird, 0, keyFourth, 0)
}

// EnvelopeSize returns how long an envelope is with rawSize bytes in it.
func EnvelopeSize(apiVersion, kind string, rawSize int) int {
	typeMeta := 1 + sizeSized(len(apiVersion)) + 1 + sizeSized(len(kind))
	return len(protobufMagic) + 1 + sizeSized(typeMeta) + 1 + sizeSized(rawSize) + len(EnvelopeTail(nil))
}

// HasMagic reports whether a body begins as protobuf does.
func HasMagic(body []byte) bool { return bytes.HasPrefix(body, []byte(protobufMagic)) }

// CutEnvelope returns what an envelope (B20) says and holds; raw is part of body. Errors are
// *DecodeError: also for content in another encoding.
func CutEnvelope(body []byte) (apiVersion, kind string, raw []byte, err error) {
	unknown, ok := bytes.CutPrefix(body, []byte(protobufMagic))
	if !ok {
		return "", "", nil, envelopeError("it does not begin with the protobuf prefix")
	}
	err = eachSized(unknown, func(number protowire.Number, content []byte) error {
		switch {
		case number == 1:
			return eachSized(content, func(number protowire.Number, text []byte) error {
				switch {
				case number <= 2 && !utf8.Valid(text):
					return envelopeError("a string holds invalid UTF-8")
				case number == 1:
					apiVersion = string(text)
				case number == 2:
					kind = string(text)
				}
				return nil
			})
		case number == 2:
			raw = content[:len(content):len(content)]
		case number == 3 && len(content) > 0:
			return envelopeError("content in an encoding is not supported")
		}
		return nil
	})
	return apiVersion, kind, raw, err
}

// eachSized calls fn with the fields of a message that have a length, and passes over the others.
func eachSized(message []byte, fn func(number protowire.Number, content []byte) error) error {
	for len(message) > 0 {
		number, wire, n := protowire.ConsumeTag(message)
		if n < 0 {
			return envelopeError("proto: " + protowire.ParseError(n).Error())
		}
		message = message[n:]
		content, n := message, protowire.ConsumeFieldValue(number, wire, message)
		if n < 0 {
			return envelopeError("proto: " + protowire.ParseError(n).Error())
		}
		message = message[n:]
		if wire != protowire.BytesType {
			continue
		}
		content, _ = protowire.ConsumeBytes(content)
		if err := fn(number, content); err != nil {
			return err
		}
	}
	return nil
}

func envelopeError(why string) error {
	return &DecodeError{Message: "couldn't read the protobuf envelope: " + why, Offset: -1}
}

// WatchEventHead appends the beginning of a WatchEvent (D5): the last rawSize bytes of the message,
// an object in its envelope, follow.
func WatchEventHead(dst []byte, eventType string, rawSize int) []byte {
	dst = appendSized(dst, keyFirst, eventType)
	dst = append(dst, keySecond)
	dst = binary.AppendUvarint(dst, uint64(1+sizeSized(rawSize)))
	dst = append(dst, keyFirst)
	return binary.AppendUvarint(dst, uint64(rawSize))
}

// WatchEventSize returns the size of a WatchEvent with an object of rawSize bytes.
func WatchEventSize(eventType string, rawSize int) int {
	return 1 + sizeSized(len(eventType)) + 1 + sizeSized(1+sizeSized(rawSize))
}

// ListMeta is the metadata of a list, as protobuf writes it.
type ListMeta struct {
	SelfLink           string
	ResourceVersion    string
	Continue           string
	RemainingItemCount *int64
}

// AppendListHead appends the beginning of a list: its metadata. Items follow, each after its
// ListItemHead.
func AppendListHead(dst []byte, m ListMeta) []byte {
	dst = append(dst, keyFirst)
	dst = binary.AppendUvarint(dst, uint64(m.size()))
	dst = appendSized(dst, keyFirst, m.SelfLink)
	dst = appendSized(dst, keySecond, m.ResourceVersion)
	dst = appendSized(dst, keyThird, m.Continue)
	if m.RemainingItemCount != nil {
		dst = append(dst, keyRemaining)
		dst = binary.AppendUvarint(dst, uint64(*m.RemainingItemCount))
	}
	return dst
}

func (m *ListMeta) size() int {
	n := 3 + sizeSized(len(m.SelfLink)) + sizeSized(len(m.ResourceVersion)) + sizeSized(len(m.Continue))
	if m.RemainingItemCount != nil {
		n += 1 + sizeVarint(uint64(*m.RemainingItemCount))
	}
	return n
}

// ListHeadSize returns how long AppendListHead's bytes are.
func ListHeadSize(m ListMeta) int { return 1 + sizeSized(m.size()) }

// AppendListItemHead appends what comes before an item of a list, whose protobuf bytes have that
// size.
func AppendListItemHead(dst []byte, size int) []byte {
	return binary.AppendUvarint(append(dst, keySecond), uint64(size))
}

// ListItemSize returns what an item of that size takes in a list.
func ListItemSize(size int) int { return 1 + sizeSized(size) }

func appendSized(dst []byte, key byte, s string) []byte {
	dst = binary.AppendUvarint(append(dst, key), uint64(len(s)))
	return append(dst, s...)
}
