package negotiate

import (
	"bytes"
	"encoding/json"
	"strings"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/status"
)

// Source is the form of a request's body.
type Source uint8

// The forms of request bodies.
const (
	SourceJSON Source = iota
	SourceYAML
	SourceProtobuf
	SourceUnknown // to be found out from the bytes
)

// Sent returns the form of a body by its Content-Type; parameters are ignored (semantics A41, A42,
// B19).
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

// Body is a request's body, ready to be decoded, more than once if need be: JSON text, or protobuf
// in its envelope.
type Body struct {
	bytes    []byte
	protobuf bool
}

// NewBody takes the bytes of a body. YAML becomes JSON text of at most maxBytes. What the type does
// not tell is sniffed: protobuf by its magic, else JSON, else YAML (Z3). The bytes are kept and not
// changed.
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
		return Body{}, unsupported(true)
	}
	return Body{bytes: decoded}, nil
}

// unsupported refuses a body whose type is not consumed.
func unsupported(protobuf bool) error {
	if protobuf {
		return status.NewUnsupportedMediaType([]string{jsonType, yamlType, protobufType})
	}
	return status.NewUnsupportedMediaType([]string{jsonType, yamlType})
}

// Empty reports whether nothing was sent.
func (b Body) Empty() bool {
	return len(b.bytes) == 0 || !b.protobuf && len(bytes.TrimSpace(b.bytes)) == 0
}

// Decode reads the body as an object of a kind, as schema.Kind.Decode does.
func (b Body) Decode(k *schema.Kind) (*schema.Object, schema.Problems, error) {
	if !b.protobuf || b.Empty() {
		return k.Decode(b.bytes)
	}
	return decodeProtobuf(b.bytes, k)
}

// DecodeMessage reads the body as a message that is no object of a kind, such as DeleteOptions.
func (b Body) DecodeMessage(m *schema.Message) (*schema.Value, schema.Problems, error) {
	if !b.protobuf {
		return m.Decode(b.bytes)
	}
	return decodeMessageProtobuf(b.bytes, m)
}
