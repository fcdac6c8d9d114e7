package schema

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// protobufMagic is the prefix of protobuf bodies and stored protobuf objects (B20).
const protobufMagic = "k8s\x00"

// Keys (number and wire type) of the fields of the messages around objects: Unknown{1: TypeMeta{1:
// apiVersion, 2: kind}, 2: raw, 3: contentEncoding, 4: contentType}, WatchEvent{1: type, 2:
// RawExtension{1: raw}}, and lists{1: ListMeta, 2: items}.
const (
	keyFirst     = 1<<wireTypeBits | wireBytes
	keySecond    = 2<<wireTypeBits | wireBytes
	keyThird     = 3<<wireTypeBits | wireBytes
	keyFourth    = 4<<wireTypeBits | wireBytes
	keyRemaining = 4<<wireTypeBits | wireVarint // remainingItemCount of ListMeta
)

// AppendEnvelope appends an object's protobuf bytes raw in their envelope (B20).
func AppendEnvelope(dst []byte, apiVersion, kind string, raw []byte) []byte {
	dst = EnvelopeHead(dst, apiVersion, kind, len(raw))
	dst = append(dst, raw...)
	return EnvelopeTail(dst)
}

// EnvelopeHead appends the part of the envelope before the object, whose size is rawSize bytes.
// EnvelopeTail appends the part after it.
func EnvelopeHead(dst []byte, apiVersion, kind string, rawSize int) []byte {
	dst = append(dst, protobufMagic...)
	dst = append(dst, keyFirst)
	dst = binary.AppendUvarint(dst, uint64(1+sizeSized(len(apiVersion))+1+sizeSized(len(kind))))
	dst = appendSized(dst, keyFirst, apiVersion)
	dst = appendSized(dst, keySecond, kind)
	dst = append(dst, keySecond)
	return binary.AppendUvarint(dst, uint64(rawSize))
}

// EnvelopeTail appends the part of the envelope after the object: contentEncoding and contentType,
// both empty.
func EnvelopeTail(dst []byte) []byte {
	return append(dst, keyThird, 0, keyFourth, 0)
}

// EnvelopeSize returns the size of an envelope that contains an object of rawSize bytes.
func EnvelopeSize(apiVersion, kind string, rawSize int) int {
	typeMeta := 1 + sizeSized(len(apiVersion)) + 1 + sizeSized(len(kind))
	return len(protobufMagic) + 1 + sizeSized(typeMeta) + 1 + sizeSized(rawSize) + len(EnvelopeTail(nil))
}

// HasMagic reports whether a body begins with the protobuf prefix.
func HasMagic(body []byte) bool { return bytes.HasPrefix(body, []byte(protobufMagic)) }

// CutEnvelope parses an envelope (B20) and returns its fields. raw is a subslice of body. Content
// in an encoding is not supported. Errors are *DecodeError.
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

// eachSized calls fn with each length-delimited field of a message and skips the others.
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

// WatchEventHead appends the beginning of a WatchEvent (D5). The caller appends the rest: an object
// of rawSize bytes in its envelope.
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

// ListMeta is the metadata of a list in protobuf.
type ListMeta struct {
	SelfLink           string
	ResourceVersion    string
	Continue           string
	RemainingItemCount *int64
}

// AppendListHead appends the beginning of a list, its metadata. The caller appends the items, each
// after AppendListItemHead.
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

// ListHeadSize returns the number of bytes that AppendListHead appends.
func ListHeadSize(m ListMeta) int { return 1 + sizeSized(m.size()) }

// AppendListItemHead appends the key and length of a list item whose protobuf encoding has size
// bytes.
func AppendListItemHead(dst []byte, size int) []byte {
	return binary.AppendUvarint(append(dst, keySecond), uint64(size))
}

// ListItemSize returns the size that an item of size bytes takes in a list, including key and
// length.
func ListItemSize(size int) int { return 1 + sizeSized(size) }

func appendSized(dst []byte, key byte, s string) []byte {
	dst = binary.AppendUvarint(append(dst, key), uint64(len(s)))
	return append(dst, s...)
}
