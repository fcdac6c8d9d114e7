package negotiate

import (
	"bytes"
	"encoding/json"
	"strings"

	"quorate/apiserver/limit"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/status"
)

// Source is the form of a request body.
type Source uint8

// The forms of request bodies.
const (
	SourceJSON Source = iota
	SourceYAML
	SourceProtobuf
	SourceUnknown // to be found out from the bytes
)

// Sent returns the form of a body by its Content-Type, whose parameters are ignored. A type of
// another form is SourceUnknown, because such a body is recognized by its content (A42).
func Sent(contentType string) Source {
	media, _, _ := strings.Cut(contentType, ";")
	switch strings.ToLower(strings.TrimSpace(media)) {
	case "", jsonType:
		return SourceJSON
	case yamlType, "application/x-yaml", "text/yaml":
		return SourceYAML
	case protobufType, kubernetesProtobufType:
		return SourceProtobuf
	}
	return SourceUnknown
}

// Body is a request body that can be decoded repeatedly: JSON text, or protobuf in its envelope.
type Body struct {
	bytes    []byte
	protobuf bool
}

// NewBody returns the body of the bytes that a client sent. It converts YAML to JSON text of at
// most maxBytes. If source is SourceUnknown, it recognizes protobuf by its magic bytes, and
// otherwise tries JSON and then YAML, of which it accepts only objects (A42, Z3); it returns a 415
// error for anything else. It retains sent and does not modify it.
func NewBody(sent []byte, source Source, maxBytes int) (Body, error) {
	switch source {
	case SourceJSON:
		return Body{bytes: sent}, nil
	case SourceProtobuf:
		return Body{bytes: sent, protobuf: true}, nil
	case SourceYAML:
		decoded, err := schema.YAMLToJSON(sent, maxBytes)
		return Body{bytes: decoded}, err
	}
	switch {
	case schema.HasMagic(sent):
		return Body{bytes: sent, protobuf: true}, nil
	case len(bytes.TrimSpace(sent)) == 0, json.Valid(sent):
		return Body{bytes: sent}, nil
	}
	decoded, err := schema.YAMLToJSON(sent, maxBytes)
	if err != nil || !bytes.HasPrefix(decoded, []byte("{")) {
		return Body{}, limit.Carry(err, unsupported(true))
	}
	return Body{bytes: decoded}, nil
}

// Expansion returns at most how many bytes it takes to make a Body of the bytes sent, and to decode
// it.
func Expansion(sent []byte, source Source) int64 {
	switch {
	case source == SourceProtobuf, source == SourceUnknown && schema.HasMagic(sent):
		return schema.ProtobufExpansion(len(sent))
	case source == SourceJSON:
		return schema.JSONExpansion(sent)
	}
	return max(schema.YAMLExpansion(sent), schema.JSONExpansion(sent))
}

// Expansion returns at most how many bytes it takes to decode the body.
func (b Body) Expansion() int64 {
	if b.protobuf {
		return schema.ProtobufExpansion(len(b.bytes))
	}
	return schema.JSONExpansion(b.bytes)
}

// unsupported returns the 415 error for a body that is in none of the accepted forms.
func unsupported(protobuf bool) error {
	if protobuf {
		return status.NewUnsupportedMediaType([]string{jsonType, yamlType, protobufType})
	}
	return status.NewUnsupportedMediaType([]string{jsonType, yamlType})
}

// Empty reports whether the body has no content.
func (b Body) Empty() bool {
	return len(b.bytes) == 0 || !b.protobuf && len(bytes.TrimSpace(b.bytes)) == 0
}

// Decode decodes the body as an object of a kind, like schema.Kind.Decode.
func (b Body) Decode(k *schema.Kind) (*schema.Object, schema.Problems, error) {
	if !b.protobuf || b.Empty() {
		return k.Decode(b.bytes)
	}
	return decodeProtobuf(b.bytes, k)
}

// DecodeMessage decodes the body as a message that is not an object of a kind, such as
// DeleteOptions.
func (b Body) DecodeMessage(m *schema.Message) (*schema.Value, schema.Problems, error) {
	if !b.protobuf {
		return m.Decode(b.bytes)
	}
	return decodeMessageProtobuf(b.bytes, m)
}
